/**
 * Uploads: multipart bodies of one file and a few fields, read by koa-body. The file is passed to storage while it
 * arrives; no process holds it whole, and nothing is written to this machine's disk.
 *
 * Errors in the form or the file are found as early as possible, and the rest of the body is then not read.
 */
import { PassThrough } from 'node:stream'
import type { Context } from 'koa'
import { koaBody } from 'koa-body'
import { contentTypeOf, fitsName, HEAD_BYTES } from '../../lib/documents/content-type.ts'
import { OperatingError } from '../../lib/base/errors.ts'
import type { Party } from '../../lib/security/fair-share.ts'
import { type FieldError, ProblemError, refuse } from '../../lib/base/problems.ts'
import { FileTooLarge, type StoredFile } from '../../storage/documents/files.ts'
import type { Arrivals } from '../access/arrivals.ts'
import { fileNameOf } from '../../lib/documents/file-name.ts'
import { ANY_CONTENT, type ArrivingFile, type ReadUpload, type UploadTerms } from '../../actors/documents/uploads.ts'

const MULTIPART = 'multipart/form-data'
/** Size of all fields beside a file, together. */
const FIELD_BYTES_MAX = 4 * 1024
const FIELDS_MAX = 16

/** Size of a form without its file. */
const FORM_BYTES_MAX = 64 * 1024

function invalid(field: string, code: FieldError['code'], message: string, params?: FieldError['params']): never {
  refuse('validation-error', 'Some fields of the form are not valid.', {
    errors: [params === undefined ? { field, code, message } : { field, code, message, params }],
  })
}

function tooLarge(maxBytes: number): ProblemError {
  return new ProblemError({
    slug: 'payload-too-large',
    detail: `The file may have at most ${maxBytes} bytes.`,
    extra: { maxBytes },
  })
}

/** Reads the first bytes of a stream; returns them and the whole stream. */
async function peek(
  stream: AsyncIterable<Uint8Array>,
): Promise<{ readonly head: Uint8Array; readonly whole: boolean; readonly bytes: AsyncIterable<Uint8Array> }> {
  const iterator = stream[Symbol.asyncIterator]()
  const first: Uint8Array[] = []
  let length = 0
  let whole = false
  while (length < HEAD_BYTES && !whole) {
    const next = await iterator.next()
    if (next.done === true) whole = true
    else {
      first.push(next.value)
      length += next.value.byteLength
    }
  }
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield* first
    if (!whole)
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value
  }
  return { head: Buffer.concat(first).subarray(0, HEAD_BYTES), whole, bytes: bytes() }
}

/** Checks an arriving file and stores it. @throws ProblemError `validation-error`, `payload-too-large` */
async function take(
  sent: string | null,
  stream: AsyncIterable<Uint8Array>,
  { maxBytes, types }: UploadTerms,
  keep: (file: ArrivingFile) => Promise<StoredFile>,
): Promise<StoredFile> {
  const fileName = sent === null ? null : fileNameOf(sent)
  if (fileName === null)
    invalid('/file', 'invalid_format', 'The file needs a name of at most 120 characters, without control characters.')
  const kept = (file: Omit<ArrivingFile, 'fileName' | 'maxBytes'>): Promise<StoredFile> =>
    keep({ ...file, fileName, maxBytes }).catch((error: unknown) => {
      throw error instanceof FileTooLarge ? tooLarge(maxBytes) : error
    })
  if (types === 'any') return await kept({ contentType: ANY_CONTENT, bytes: stream })
  const { head, whole, bytes } = await peek(stream)
  if (head.length === 0) invalid('/file', 'too_short', 'The file is empty.', { min: 1 })
  const contentType = contentTypeOf(head, whole)
  if (contentType === null || !types.includes(contentType))
    invalid('/file', 'invalid_type', `The file must be one of ${types.join(', ')}, by its content.`)
  if (!fitsName(contentType, fileName))
    invalid('/file', 'invalid_value', `The content is ${contentType}, which does not fit the name of the file.`)
  return await kept({ contentType, bytes })
}

/** Whether a request has a multipart form. */
export const isMultipart = ({ headers }: Context['req']): boolean =>
  (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() === MULTIPART

/** Makes the reader of one request's upload. While the file arrives it takes a place of the party's share. */
export function uploadReader(context: Context, party: Party, arrivals: Arrivals): ReadUpload {
  return async (terms, keep) => {
    const { req } = context
    if (!isMultipart(req)) {
      refuse('unsupported-media-type', 'The body must be multipart/form-data.', { extra: { supported: [MULTIPART] } })
    }
    const { maxBytes } = terms
    // A form is little larger than its file, so a larger announced length is refused before it is sent.
    if (Number(req.headers['content-length'] ?? 0) > maxBytes + FORM_BYTES_MAX) throw tooLarge(maxBytes)
    let taking: Promise<StoredFile> | null = null
    let failure: unknown
    let arriving: PassThrough | null = null
    const fail =
      (stream: PassThrough) =>
      (error: unknown): never => {
        // A stream that was closed early was closed by the parser, which reports the reason.
        if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') failure ??= error
        // The parser is told of the error, and reads no further.
        stream.destroy(error instanceof Error ? error : new Error('The file could not be kept.'))
        throw error
      }
    const errors: FieldError[] = []
    const parse = koaBody({
      json: false,
      text: false,
      urlencoded: false,
      multipart: true,
      patchKoa: true,
      formidable: {
        // The bounds of the form. The file's own bound is checked as it is written; this one is the second line.
        maxFiles: 1,
        maxFields: FIELDS_MAX,
        maxFieldsSize: FIELD_BYTES_MAX,
        maxFileSize: maxBytes + 1,
        maxTotalFileSize: maxBytes + 1,
        allowEmptyFiles: true,
        minFileSize: 0,
        filter: (part: { name: string | null }) => {
          if (part.name === 'file') return true
          errors.push({
            field: `/${part.name ?? ''}`,
            code: 'unknown_field',
            message: 'Is not a file of this operation.',
          })
          return false
        },
        fileWriteStreamHandler: (file: unknown) => {
          const stream = new PassThrough({ highWaterMark: 64 * 1024 })
          arriving = stream
          taking = take((file as { originalFilename: string | null }).originalFilename, stream, terms, keep).catch(
            fail(stream),
          )
          // The promise is awaited below, when the form has been read.
          taking.catch(() => undefined)
          return stream
        },
      } as never,
      onError: (error) => {
        throw error
      },
    })
    try {
      await arrivals.upload(
        req,
        party,
        () => parse(context, async () => {}),
        (error) => {
          failure ??= error
          // The consumer of the file gets the error, and stores nothing.
          arriving?.destroy(error)
        },
      )
    } catch (error) {
      throw parseProblem(failure ?? error, maxBytes)
    }
    const sent = context.request.body as Record<string, string | string[]> | undefined
    const fields: Record<string, string> = {}
    for (const [name, value] of Object.entries(sent ?? {})) {
      if (!terms.fields.includes(name))
        errors.push({
          field: `/${name}`,
          code: name === 'file' ? 'invalid_type' : 'unknown_field',
          message: name === 'file' ? 'Must be a file with a type.' : 'Is not a field of this operation.',
        })
      else if (typeof value !== 'string')
        errors.push({ field: `/${name}`, code: 'invalid_value', message: 'Must not appear twice.' })
      else fields[name] = value
    }
    if (taking === null && errors.length === 0)
      errors.push({ field: '/file', code: 'required', message: 'Is required.' })
    if (errors.length > 0)
      throw new ProblemError({ slug: 'validation-error', detail: 'Some fields of the form are not valid.', errors })
    return { file: await (taking as unknown as Promise<StoredFile>), fields }
  }
}

/** The problem of a form that could not be read to its end. */
function parseProblem(error: unknown, maxBytes: number): unknown {
  if (error instanceof ProblemError || error instanceof OperatingError) return error
  const { httpCode, code } = error as { httpCode?: number; code?: unknown }
  if (httpCode === 413) return tooLarge(maxBytes)
  // The parser numbers its own errors; a client that hangs up is one of them.
  if (typeof code !== 'number') return error
  return new ProblemError({ slug: 'malformed-request', detail: 'The form could not be read completely.' })
}
