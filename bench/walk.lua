-- wrk … -s walk.lua URL -- LIST: send the requests in LIST, line by line, from the start again at its end.
-- A line is a path and the header fields of the request, separated by tabs.

local requests, at = {}, 0

function init(args)
    for line in io.lines(args[1]) do
        local path, fields = line:match("^([^\t]+)\t?(.*)$")
        local head = "GET " .. path .. " HTTP/1.1\r\nHost: bench.example\r\n"
        for field in fields:gmatch("[^\t]+") do
            head = head .. field .. "\r\n"
        end
        requests[#requests + 1] = head .. "\r\n"
    end
end

function request()
    at = at % #requests + 1
    return requests[at]
end

-- bench/load.py reads the last line: requests, microseconds, the 99th percentile, failures.
function done(summary, latency)
    local errors = summary.errors
    local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
    io.write(string.format("%d %d %d %d\n", summary.requests, summary.duration, latency:percentile(99), failed))
end
