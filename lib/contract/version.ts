/** The version of the contract. */

/** Of the contract, not of the build: the build's version is what `/health` tells. */
export const CONTRACT_VERSION = '1.0.0-draft.14'
