/** Tells the health of a connection how its sessions at a place of files went, as the HTTP client does of its calls. */
import type { CallOutcome } from '../../../lib/providers/health.ts'
import type { Redact } from '../../../lib/providers/redaction.ts'
import { PlaceUnreachable, type FileSession, type PartnerFiles } from '../adapters/partner-files.ts'

/** Measures until a session begins: how long its work takes depends on the files. */
export function measuredFiles(
  files: PartnerFiles,
  { redact, report }: { readonly redact: Redact; readonly report: (outcome: CallOutcome) => void },
): PartnerFiles {
  return {
    book: (owner) => files.book(owner),
    read: (pieces, take) => files.read(pieces, take),
    place(endpoint) {
      const place = files.place(endpoint)
      return {
        name: place.name,
        probe: () => place.probe(),
        async use<Result>(work: (session: FileSession) => Promise<Result>): Promise<Result> {
          const began = performance.now()
          let latencyMs: number | undefined
          const taken = (): number => Math.round(performance.now() - began)
          try {
            const result = await place.use((session) => {
              latencyMs = taken()
              return work(session)
            })
            report({ ok: true, latencyMs: latencyMs ?? taken() })
            return result
          } catch (error) {
            if (error instanceof PlaceUnreachable)
              report({ ok: false, latencyMs: latencyMs ?? taken(), error: redact(error.message) })
            throw error
          }
        },
      }
    },
  }
}
