/** Attributes that clients give to what they make: text by name. */

/**
 * The attributes in the order in which `jsonb` keeps them, shorter names first, so that what is answered before they are
 * stored and what is read back later are the same bytes. Names are ASCII (the contract allows no others).
 */
export function inStoredOrder(metadata: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entries = Object.entries(metadata)
  if (entries.length < 2) return metadata
  return Object.fromEntries(entries.sort(([left], [right]) => left.length - right.length || (left < right ? -1 : 1)))
}

/** Attributes after a change: what is null goes, what is left out stays. */
export function patchedMetadata(metadata: Readonly<Record<string, string>>, patch: Readonly<Record<string, string | null>>): Readonly<Record<string, string>> {
  const merged: Record<string, string> = { ...metadata }
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name]
    else merged[name] = value
  }
  return inStoredOrder(merged)
}
