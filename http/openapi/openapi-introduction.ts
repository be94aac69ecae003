/** The introduction of the contract, for first-time readers: the rules that all operations have in common. */
export const INTRODUCTION = `Accounts, recipients, payments and foreign exchange for customers of a banking platform.

- **Who asks.** Programs send an API key as \`Authorization: Bearer svc_…\`, people the token that \`POST /sessions\` and its second factor give. \`X-Tenant-Id\`
  is the customer or the operator that it is about. A sandbox prints a key when it starts for the first time, and keeps it with all ids in \`sandbox.json\`.
- **Money** is \`{"amountMinor": "1250", "currency": "EUR"}\`: minor units of the currency, as text, so 12.50 EUR. Times are UTC, ids are UUIDs.
- **Nothing happens twice.** What moves money takes an \`Idempotency-Key\`. The same key with the same body gives the same answer for 24 hours, marked
  \`Idempotency-Replayed: true\`; after a timeout send the same request again.
- **Nothing is overwritten unseen.** A change names the \`ETag\` it is based on as \`If-Match\`: 412 when there has been another since. Reads take \`If-None-Match\`.
- **Lists** are read on with \`page.nextCursor\` and back with \`page.prevCursor\`, as \`cursor\` with the same filters and sort. A filter is \`filter[status]=completed,failed\`.
- **Errors** are problem documents: go by \`code\`. \`errors[]\` points at each member that is wrong, \`retryable\` says whether the same request may be sent
  again, and with \`requestId\` we find it in our logs.
- **What becomes of things** is told by webhooks (\`POST /integrator-webhooks\`): go by the resource, which you then read. \`GET /simulations\` lists what the
  sandbox can be made to do, by amounts, by words and on demand.

Clients must ignore unknown response fields and tolerate new values of enumerations.`
