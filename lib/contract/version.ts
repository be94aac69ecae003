/** The version of the contract. */

/** The version of the contract; the version of the build is in the answer of `/health`. */
export const CONTRACT_VERSION = '1.0.0-draft.14'
