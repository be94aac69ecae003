/** Sends a forwarded request to the home, and holds the answer until it is whole: its signature covers all of it. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Dispatcher } from 'undici'

/** An answer is held until its signature is checked. The largest answer of a command has some 100 KB. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024
export interface ReceivedAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/**
 * Sends the request and returns the whole answer. The request is aborted when the response to the client is closed.
 *
 * @throws the error of the connection; an error when the answer has more than 8 MiB or the client has gone
 */
export function requestAnswer(
  connections: Pick<Dispatcher, 'dispatch'>,
  request: Dispatcher.DispatchOptions,
  client: ServerResponse,
): Promise<ReceivedAnswer> {
  return new Promise<ReceivedAnswer>((resolve, reject) => {
    let status = 0
    let headers: IncomingHttpHeaders = {}
    let bytes = 0
    const chunks: Buffer[] = []
    connections.dispatch(request, {
      onRequestStart: (controller) => {
        // The client has closed its connection. The command may still be decided, but its answer is not needed.
        client.once('close', () => {
          if (!client.writableFinished) controller.abort(new Error('The client closed the connection.'))
        })
      },
      onResponseStart: (_controller, statusCode, answerHeaders) => {
        status = statusCode
        headers = answerHeaders
      },
      onResponseData: (controller, chunk) => {
        bytes += chunk.length
        if (bytes > ANSWER_BYTES_MAX) controller.abort(new Error(`The answer has more than ${ANSWER_BYTES_MAX} bytes.`))
        else chunks.push(chunk)
      },
      onResponseEnd: () =>
        resolve({ status, headers, body: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks) }),
      onResponseError: (_controller, error) => reject(error),
    })
  })
}
