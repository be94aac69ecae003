/** Bounds of one bulk file. An operator cannot set higher ones: these protect the node. */

/** Bytes of the file as it was sent. */
export const BULK_FILE_BYTES_MAX = 64 * 1024 * 1024
export const BULK_ROWS_MAX = 100_000
/** Rows of the JSON variant, which come in the request body. */
export const BULK_JSON_ROWS_MAX = 1_000
/**
 * Bytes of a spreadsheet when unpacked, and how many times larger than the packed file. Its XML repeats itself, so ten
 * times is usual; a hundred times is not.
 */
export const UNPACKED_BYTES_MAX = 512 * 1024 * 1024
export const UNPACKED_TIMES_MAX = 100
/** Characters of one line; the widest sensible row has fifty attributes of 500 characters. */
export const RECORD_CHARACTERS_MAX = 64 * 1024
/** Rows that the reader passes to the node at a time: a millisecond or two of the event loop. */
export const ROWS_AT_A_TIME = 500
/** Entries in the archive of a spreadsheet: sheets, themes, pictures. */
export const ARCHIVE_ENTRIES_MAX = 1_000
/** Characters of the shared strings of a spreadsheet: ten full columns of text. */
export const SHARED_CHARACTERS_MAX = 64 * 1024 * 1024
/** Cells of one row. A cell further right cannot be a known column; it is reported and not stored. */
export const CELLS_MAX = 256
/** Characters of a bulk payment's name; without a name it has the name of its file. */
export const BULK_NAME_CHARACTERS_MAX = 100
