/** Cards. Keys never manage them. */
import { page, resource } from '../route/answer.ts'
import { route, type CurrentContext } from '../route/route.ts'
import {
  Card,
  CardClose,
  CardControlsWrite,
  CardCreate,
  CardLimitsWrite,
  cardList,
} from '../../lib/cards/card-schema.ts'
import { PageOf } from '../../lib/contract/page.ts'
import type { ReadServices } from '../route/services.ts'

const CARDS = {
  tag: 'activity',
  callers: 'session',
  scope: null,
  tenant: 'customer',
  feature: 'cards',
} as const
const MANAGE = { ...CARDS, capability: 'cards.manage', stepUp: { action: 'card.manage' } } as const
/** Holders see their own cards and stop their use, too. The terms of the cards are set by managers. */
const OWN = ['cards.manage', 'cards.own'] as const
const READ = { ...CARDS, capability: OWN } as const
const USE = { ...MANAGE, capability: OWN } as const
const PATH = '/cards/{cardId}'

async function current(
  { tenant, params }: CurrentContext<`${typeof PATH}/limits` | `${typeof PATH}/controls`>,
  { cards }: ReadServices,
) {
  return tenant === null ? null : await cards.get(tenant, params.cardId)
}

export const listCards = route({
  ...READ,
  method: 'get',
  path: '/cards',
  operationId: 'listCards',
  summary: 'List cards',
  idempotency: 'none',
  list: cardList,
  success: { status: 200, description: 'A page of cards.', schema: PageOf('CardPage', Card), etag: true },
  problems: [],
  handle: async ({ caller, list }, { cards }) => page(list, await cards.list(list, caller)),
})

export const createCard = route({
  ...MANAGE,
  method: 'post',
  path: '/cards',
  operationId: 'createCard',
  money: 'prepare',
  summary: 'Issue a card',
  description:
    'To an active member of the customer. A virtual card is active at once, a physical card when it is activated. The ' +
    'number is kept by the issuer: the service knows the last four digits and the month of expiry.',
  idempotency: 'optional',
  body: CardCreate,
  success: { status: 201, description: 'The card.', schema: Card, etag: true, location: true },
  problems: ['limit-reached', 'rail-unavailable'],
  handle: ({ caller, command }, { cards }) => cards.issue(caller, command),
})

export const getCard = route({
  ...READ,
  method: 'get',
  path: PATH,
  operationId: 'getCard',
  summary: 'Read a card',
  idempotency: 'none',
  success: { status: 200, description: 'The card.', schema: Card, etag: true },
  problems: [],
  handle: async ({ tenant, caller, params }, { cards }) => resource(await cards.get(tenant, params.cardId, caller)),
})

export const activateCard = route({
  ...USE,
  method: 'post',
  path: `${PATH}/activate`,
  operationId: 'activateCard',
  summary: 'Activate a physical card',
  idempotency: 'none',
  success: { status: 200, description: 'The active card.', schema: Card, etag: true },
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params }, { cards }) => resource(await cards.move(caller, params.cardId, 'activate')),
})

export const freezeCard = route({
  ...USE,
  method: 'post',
  path: `${PATH}/freeze`,
  operationId: 'freezeCard',
  summary: 'Freeze a card',
  description: 'Purchases are declined until it is unfrozen; what was authorised is still cleared.',
  idempotency: 'none',
  success: { status: 200, description: 'The frozen card.', schema: Card, etag: true },
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params }, { cards }) => resource(await cards.move(caller, params.cardId, 'freeze')),
})

export const unfreezeCard = route({
  ...USE,
  method: 'post',
  path: `${PATH}/unfreeze`,
  operationId: 'unfreezeCard',
  summary: 'Unfreeze a card',
  idempotency: 'none',
  success: { status: 200, description: 'The active card.', schema: Card, etag: true },
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params }, { cards }) => resource(await cards.move(caller, params.cardId, 'unfreeze')),
})

export const closeCard = route({
  ...USE,
  method: 'post',
  path: `${PATH}/close`,
  operationId: 'closeCard',
  summary: 'Close a card',
  description: 'For good. A card in its place names it as `replacesCardId`.',
  idempotency: 'optional',
  body: CardClose,
  success: { status: 200, description: 'The closed card.', schema: Card },
  problems: ['not-found', 'invalid-transition'],
  handle: ({ caller, params, body, command }, { cards }) =>
    cards.close(caller, params.cardId, body, command.idempotency),
})

export const updateCardLimits = route({
  ...MANAGE,
  method: 'patch',
  path: `${PATH}/limits`,
  operationId: 'updateCardLimits',
  summary: 'Set the limits of a card',
  description: 'All limits at once: an absent one means none.',
  idempotency: 'none',
  ifMatch: true,
  current,
  body: CardLimitsWrite,
  success: { status: 200, description: 'The card with its limits.', schema: Card, etag: true },
  problems: [],
  handle: async ({ caller, params, body, expectedVersion }, { cards }) =>
    resource(await cards.setLimits(caller, params.cardId, body, expectedVersion)),
})

export const updateCardControls = route({
  ...MANAGE,
  method: 'patch',
  path: `${PATH}/controls`,
  operationId: 'updateCardControls',
  summary: 'Set the controls of a card',
  description: 'All controls at once: an absent one allows everything.',
  idempotency: 'none',
  ifMatch: true,
  current,
  body: CardControlsWrite,
  success: { status: 200, description: 'The card with its controls.', schema: Card, etag: true },
  problems: [],
  handle: async ({ caller, params, body, expectedVersion }, { cards }) =>
    resource(await cards.setControls(caller, params.cardId, body, expectedVersion)),
})
