/** What one bulk file may be. An operator's wishes end here: these protect the node. */

/** Of the file as it was sent. */
export const BULK_FILE_BYTES_MAX = 64 * 1024 * 1024
export const BULK_ROWS_MAX = 100_000
/** Of the JSON variant, whose rows come in the request. */
export const BULK_JSON_ROWS_MAX = 1_000
/** Of a spreadsheet, unpacked: it is packed text that repeats itself, so ten times is usual and a hundred is not. */
export const UNPACKED_BYTES_MAX = 512 * 1024 * 1024
export const UNPACKED_TIMES_MAX = 100
/** Of one line; the widest row that makes sense has fifty attributes of 500 characters. */
export const RECORD_CHARACTERS_MAX = 64 * 1024
/** Rows that go from the reader to the node at a time: a millisecond or two of the event loop. */
export const ROWS_AT_A_TIME = 500
/** Parts of a spreadsheet: sheets, themes, pictures. */
export const ARCHIVE_ENTRIES_MAX = 1_000
/** Characters of the texts that a spreadsheet's cells share: ten full columns of them. */
export const SHARED_CHARACTERS_MAX = 64 * 1024 * 1024
/** A cell further right than this is no column of ours; it is named, not kept. */
export const CELLS_MAX = 256
/** Of a bulk payment's name, which is its file's where it has none. */
export const BULK_NAME_CHARACTERS_MAX = 100
