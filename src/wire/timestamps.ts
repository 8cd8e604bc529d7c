const shape = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,32}))?(?:Z|([+-])(\d\d):(\d\d))$/;
const canonical = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const firstMs = Date.parse('0001-01-01T00:00:00.000Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * A timestamp in the one form A2A writes, `YYYY-MM-DDTHH:mm:ss.sssZ` (JSON-03 to JSON-05), made from any RFC 3339 form with any offset and up to
 * 32 digits of a second (JSON-07). What is finer than a millisecond is cut off. `undefined` if it is no timestamp or outside the years 1 to 9999.
 */
export function canonicalTimestamp(text: string): string | undefined {
  const match = shape.exec(text);
  if (!match) return undefined;
  const [
    ,
    year = '',
    month = '',
    day = '',
    hour = '',
    minute = '',
    second = '',
    fraction = '',
    sign,
    offsetHour = '00',
    offsetMinute = '00',
  ] = match;
  if (+day > daysIn(+year, +month) || +day < 1 || +hour > 23 || +minute > 59 || +second > 59) return undefined;
  if (+offsetHour > 23 || +offsetMinute > 59) return undefined;
  if (canonical.test(text)) return text >= '0001' ? text : undefined;
  const local = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}Z`);
  const offsetMs = (+offsetHour * 60 + +offsetMinute) * 60_000;
  const at = sign === '-' ? local + offsetMs : local - offsetMs;
  return at >= firstMs && at <= lastMs ? new Date(at).toISOString() : undefined;
}

// 0 for a month that does not exist
function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  if (month < 1 || month > 12) return 0;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
