/** Sessions at a place of files count for the health of their connection. */
import t from 'tap'
import { PlaceUnreachable, type FilePlace, type FileSession } from '../../../actors/providers/adapters/partner-files.ts'
import { measuredFiles } from '../../../actors/providers/io/measured-files.ts'
import type { CallOutcome } from '../../../lib/providers/health.ts'
import { redactor } from '../../../lib/providers/redaction.ts'
import { NO_FILES } from '../../support/no-files.ts'

const ENDPOINT = {
  connectionId: 'connection',
  paths: { outgoing: 'out', incoming: 'in', archive: null },
  timeoutMs: 1_000,
  server: null,
}

t.test('a session that begins is well, whatever its work finds; a place that is not reached is not', async (t) => {
  const outcomes: CallOutcome[] = []
  let use: FilePlace['use'] = async (work) => await work({} as FileSession)
  const place = measuredFiles(
    { ...NO_FILES, place: () => ({ name: 'place', use: (work) => use(work), probe: async () => 7 }) },
    { redact: redactor(['hunter2-secret']), report: (outcome) => outcomes.push(outcome) },
  ).place(ENDPOINT)
  t.equal(await place.use(async () => 'done'), 'done')
  t.match(outcomes.splice(0), [{ ok: true, latencyMs: Number }])

  await t.rejects(
    place.use(async () => {
      throw new Error('The file is damaged.')
    }),
    { message: 'The file is damaged.' },
  )
  t.strictSame(outcomes, [], 'that is no trouble of the place')

  use = async () => {
    throw new PlaceUnreachable('The place refuses hunter2-secret.')
  }
  await t.rejects(
    place.use(async () => 'done'),
    PlaceUnreachable,
  )
  t.match(outcomes, [{ ok: false, error: 'The place refuses [redacted].' }])
  t.equal(await place.probe(), 7)
  t.equal(outcomes.length, 1, 'probes are counted where they are asked for')
})
