/** Links for downloading a file without signing in. */
import Type, { type Static } from 'typebox'
import { Timestamp } from './primitives.ts'

export const DownloadLink = Type.Object(
  {
    url: Type.String({
      format: 'uri',
      description: 'Open it with GET, without credentials.',
      examples: ['https://api.example.com/v1/downloads/AZgNbn86fCGfWAobLD1OXw'],
    }),
    expiresAt: Timestamp,
    contentType: Type.String({ examples: ['application/pdf'] }),
    fileName: Type.String({ examples: ['invoice-4711.pdf'] }),
  },
  { title: 'DownloadLink', additionalProperties: false },
)
export type DownloadLink = Static<typeof DownloadLink>
