// HTTP dates in their three forms, as `generator/nginx/config.py` reads them.

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(${MONTHS.join('|')})`;
const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const LONG_DAY = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day';
const SHORT_MONTH = '(?:Apr|Jun|Sep|Nov)';
const BY_FOUR = '(?:[02468][048]|[13579][26])';
const LEAP_YEAR = `(?:\\d\\d(?!00)${BY_FOUR}|${BY_FOUR}00)`;
const CLOCK = '([01]\\d|2[0-3]):([0-5]\\d):([0-5]\\d|60)';
const FIXED = new RegExp(`^${DAY}, (?!00|3[2-9]|[4-9]|3[01] Feb|31 ${SHORT_MONTH}|29 Feb (?!${LEAP_YEAR}))(\\d\\d) `
    + `${MONTH} (\\d{4}) ${CLOCK} GMT$`);
const DASHED = new RegExp(`^${LONG_DAY}, (?!00|3[2-9]|[4-9]|3[01]-Feb|31-${SHORT_MONTH}|29-Feb-(?!${BY_FOUR}))(\\d\\d)-`
    + `${MONTH}-(\\d\\d) ${CLOCK} GMT$`);
const ASCTIME = new RegExp(`^${DAY} (?!Feb 3|${SHORT_MONTH} 31|Feb 29 \\S+ (?!${LEAP_YEAR}))${MONTH} `
    + `( [1-9]|[12]\\d|3[01]) ${CLOCK} (\\d{4})$`);

// A date as fourteen digits, which compare like texts; empty for anything else, which makes a condition ignored.
function digits(date) {
    let parts = FIXED.exec(date);
    if (parts) {
        return joined(parts[3], parts[2], parts[1], parts, 4);
    }
    parts = DASHED.exec(date);
    if (parts) {
        // As nginx itself reads years of two digits.
        return joined((parts[3] < '70' ? '20' : '19') + parts[3], parts[2], parts[1], parts, 4);
    }
    parts = ASCTIME.exec(date);
    return parts ? joined(parts[6], parts[1], parts[2].replace(' ', '0'), parts, 3) : '';
}

function joined(year, month, day, parts, clock) {
    const number = `0${MONTHS.indexOf(month) + 1}`.slice(-2);
    return year + number + day + parts[clock] + parts[clock + 1] + parts[clock + 2];
}

// The fourteen digits of an instant in seconds.
function ofInstant(seconds) {
    return new Date(seconds * 1000).toISOString().slice(0, 19).replace(/[^0-9]/g, '');
}

// The usual form of an instant in seconds.
function text(seconds) {
    return new Date(seconds * 1000).toUTCString();
}

export default { digits, ofInstant, text };
