"""The bodies of every answer that is not a resource."""

# Every status that a server of files can end in, whoever raised it.
MESSAGES = {
    400: "Bad request",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    408: "Request timeout",
    411: "Length required",
    412: "Precondition failed",
    413: "Content too large",
    414: "URI too long",
    415: "Unsupported media type",
    416: "Range not satisfiable",
    421: "Misdirected request",
    429: "Too many requests",
    500: "Internal server error",
    501: "Not implemented",
    502: "Bad gateway",
    503: "Service unavailable",
    504: "Gateway timeout",
    505: "HTTP version not supported",
    507: "Insufficient storage",
}


def error(status: int) -> dict[str, object]:
    return {"error": MESSAGES[status], "status": status}
