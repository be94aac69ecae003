/** The state of a transaction until it ends: the entity managers that were opened on its connection. */
const units = new WeakMap<object, Map<string, object>>()

/** Begins to remember for the transaction on `client`. */
export function beginUnit(client: object): void {
  units.set(client, new Map())
}

/** Forgets everything: the connection returns to the pool, and the next transaction reads its rows afresh. */
export function endUnit(client: object): void {
  units.delete(client)
}

/**
 * Returns what `make` made for this key in the running transaction; makes it anew on a connection that remembers
 * nothing.
 */
export function inUnit<Kept extends object>(client: object, key: string, make: () => Kept): Kept {
  const unit = units.get(client)
  if (unit === undefined) return make()
  const kept = unit.get(key) ?? make()
  unit.set(key, kept)
  return kept as Kept
}
