/** Webhooks of KYC providers, and the tokens and simulations of their reviews. */
import { SimulationResult } from '../../lib/contract/simulation.ts'
import { KycWebhook } from '../../lib/kyc/kyc-connection-schema.ts'
import { KycSdkToken, KycSdkTokenCreate, SimKyc } from '../../lib/kyc/sdk-token-schema.ts'
import type { SignedBody } from '../../lib/security/signed-body.ts'
import { empty, json } from '../route/answer.ts'
import { route } from '../route/route.ts'

/** Webhooks of providers have a few kilobytes. */
const WEBHOOK_BYTES_MAX = 64 * 1024

export const receiveKycWebhook = route({
  method: 'post',
  path: '/kyc-webhooks/{connectionId}',
  operationId: 'receiveKycWebhook',
  tag: 'providers',
  summary: 'Take a webhook of a KYC provider',
  description:
    'For the provider of the connection, which signs the body. `sandbox`: the headers of Standard Webhooks, not older ' +
    'than five minutes. `sumsub`: `X-Payload-Digest` and `X-Payload-Digest-Alg`. An event that is sent again, and ' +
    'one of an unknown type, is taken and changes nothing.',
  callers: 'public',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  limits: ['partner-webhook'],
  signedBody: { bytesMax: WEBHOOK_BYTES_MAX, schema: KycWebhook },
  success: { status: 202, description: 'The signature is right, and the event was taken.' },
  problems: [],
  handle: async ({ params, signed }, { kyc }) => {
    await kyc.receive(params.connectionId, signed as SignedBody)
    return empty(202)
  },
})

export const createKycSdkToken = route({
  method: 'post',
  path: '/customers/{customerId}/kyb/sdk-tokens',
  operationId: 'createKycSdkToken',
  tag: 'onboarding',
  summary: "Make a token for the provider's SDK",
  description:
    "With the token the SDK of the operator's KYC provider takes documents in the browser or app of the applicant. " +
    'Refused where staff review without a provider.',
  callers: 'session',
  capability: 'onboarding.write',
  scope: null,
  tenant: 'customer',
  idempotency: 'none',
  answersCredential: true,
  body: KycSdkTokenCreate,
  bodyOptional: true,
  success: { status: 201, description: 'The token, good for ten minutes.', schema: KycSdkToken },
  problems: ['invalid-transition', 'provider-error'],
  handle: async ({ caller, params, body }, { kyc }) =>
    json(201, await kyc.createSdkToken(caller, params.customerId, body)),
})

export const simulateKycOutcome = route({
  method: 'post',
  path: '/simulations/kyc',
  operationId: 'simulateKycOutcome',
  tag: 'simulations',
  summary: 'Simulate the end of a review',
  description:
    "The sandbox's provider reports the review at once, in place of the one that it has planned. Staff still decide " +
    'about the case; an approved one is looked at again when the answer is red.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  sandbox: 'simulation',
  idempotency: 'optional',
  limits: ['simulate'],
  body: SimKyc,
  success: { status: 202, description: 'The review was reported.', schema: SimulationResult },
  problems: ['simulation-not-possible'],
  handle: async ({ caller, body, command }, { kyc }) => await kyc.simulate(caller, body, command.idempotency),
})
