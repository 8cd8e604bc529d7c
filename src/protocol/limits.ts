/** How deep a JSON value inside a message (`Part.data`, `metadata`) may be nested: the value itself is level 1. */
export const VALUE_DEPTH_MAX = 64;

/** Parts of one message or of one artifact event. */
export const PARTS_MAX = 1_000;

/** Elements of a list of strings: extensions, modes, referenced tasks. */
export const STRINGS_MAX = 256;

/** Violations that one INVALID_PARAMS names; the rest is counted out of the answer. */
export const VIOLATIONS_MAX = 16;

/** Bytes of one request body unless the server sets another limit. */
export const BODY_BYTES_MAX: number = 8 * 1024 * 1024;
