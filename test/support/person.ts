/** A person who uses the API: signs in with password and authenticator, gives step-up proofs, and sends requests. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

import { totpCode } from '../../lib/identity/totp.ts'
import { Client, type RawRequest, type Reply } from './client.ts'

/** How often a request is sent while it is refused because the machine is busy, and the pause in between. */
const ATTEMPTS_MAX = 20
const BUSY_PAUSE_MS = 150

export interface Login {
  readonly email: string
  readonly password: string
  readonly totpSecret: string
}

/** The body of the answer that opens a session. */
export interface Opened {
  readonly sessionId: string
  readonly status: 'mfa_required' | 'active'
  readonly mfa: { readonly methods: readonly string[]; readonly challengeId: string } | null
  readonly token: string
  readonly csrfToken: string
  readonly expiresAt: string
  readonly idleTimeoutSeconds: number
}

export interface PersonOptions {
  readonly url: () => string
  readonly login: Login
  /** The tenant for which the person works, unless a request names another. */
  readonly tenantId: string
  /** The service's current time. */
  readonly now: () => number
}

/** A person with a session, or before signing in. */
export class Person {
  /** The current token of the person's session. */
  token = ''
  csrf = ''
  sessionId = ''
  readonly login: Login
  readonly tenantId: string
  readonly #options: PersonOptions

  constructor(options: PersonOptions) {
    this.#options = options
    this.login = options.login
    this.tenantId = options.tenantId
  }

  /** The current code of the person's authenticator. */
  code(): string {
    return totpCode(this.login.totpSecret, this.#options.now())
  }

  /** A code that the person's authenticator does not show. */
  wrongCode(): string {
    return String((Number(this.code()) + 123_456) % 1_000_000).padStart(6, '0')
  }

  /** Sends a request with the person's token, or without a credential when `as` is null. */
  async send<Body = unknown>(
    method: string,
    path: string,
    body?: unknown,
    headers: RawRequest['headers'] = {},
    as: string | null = this.token,
  ): Promise<Reply<Body>> {
    const client = new Client({ url: this.#options.url, apiKey: as ?? '', tenantId: this.tenantId })
    const request = {
      method,
      headers: {
        ...(as === null ? { authorization: undefined } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }
    // Tests of people are not about a busy machine, so a 503 is repeated; a refused request was not begun.
    for (let attempt = 1; ; attempt++) {
      const reply = await client.send<Body>(`/v1${path}`, request)
      if (reply.status !== 503 || attempt === ATTEMPTS_MAX) return reply
      await pause(BUSY_PAUSE_MS)
    }
  }

  get<Body = unknown>(path: string, headers: RawRequest['headers'] = {}): Promise<Reply<Body>> {
    return this.send<Body>('GET', path, undefined, headers)
  }

  post<Body = unknown>(path: string, body?: unknown, headers: RawRequest['headers'] = {}): Promise<Reply<Body>> {
    return this.send<Body>('POST', path, body, headers)
  }

  /** Sends the password, the first step of signing in. */
  async password(password = this.login.password): Promise<Reply<Opened>> {
    return await this.send<Opened>('POST', '/sessions', { email: this.login.email, password }, {}, null)
  }

  #hold({ token, csrfToken, sessionId }: Pick<Opened, 'token' | 'csrfToken'> & { readonly sessionId?: string }): void {
    this.token = token
    this.csrf = csrfToken
    if (sessionId !== undefined) this.sessionId = sessionId
  }

  /** Signs in with both factors. @throws when the service refuses */
  async signIn(): Promise<this> {
    const first = (await this.password()).body
    this.#hold(first)
    if (first.mfa === null) return this
    const { challengeId } = first.mfa
    this.#hold(
      (await this.post<Opened>('/sessions/current/mfa', { challengeId, method: 'totp', code: this.code() })).body,
    )
    return this
  }

  /** Gives a step-up proof for an action. @throws when the service refuses */
  async stepUp(action: string, subject?: { readonly type: string; readonly id: string }): Promise<void> {
    const { challengeId } = (
      await this.post<{ challengeId: string }>('/step-up/challenges', {
        action,
        ...(subject === undefined ? {} : { subject }),
      })
    ).body
    this.#hold(
      (await this.post<Opened>(`/step-up/challenges/${challengeId}/verify`, { method: 'totp', code: this.code() }))
        .body,
    )
  }

  /** Sends a request with the browser's cookie in place of the token. */
  browser<Body = unknown>(
    method: string,
    path: string,
    body?: unknown,
    headers: RawRequest['headers'] = {},
  ): Promise<Reply<Body>> {
    return this.send<Body>(method, path, body, {
      authorization: undefined,
      cookie: `theme=dark; __Host-session=${this.token}`,
      ...headers,
    })
  }
}

/** Makes a unique name. */
export const unique = (word: string): string => `${word} ${randomUUID()}`
