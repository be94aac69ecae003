/** Metadata: attributes, text by name, that clients attach to the objects they create. */

/**
 * Sorts attributes as `jsonb` stores them, shorter names first, so that an answer sent before they are stored and an
 * answer read back later are the same bytes. Names are ASCII (the contract allows no others).
 */
export function inStoredOrder(metadata: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entries = Object.entries(metadata)
  if (entries.length < 2) return metadata
  return Object.fromEntries(entries.sort(([left], [right]) => left.length - right.length || (left < right ? -1 : 1)))
}

/** Applies a change to attributes: a null value removes the attribute, an absent name keeps it. */
export function patchedMetadata(
  metadata: Readonly<Record<string, string>>,
  patch: Readonly<Record<string, string | null>>,
): Readonly<Record<string, string>> {
  const merged: Record<string, string> = { ...metadata }
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name]
    else merged[name] = value
  }
  return inStoredOrder(merged)
}
