/** Postal addresses. Town and country are mandatory: payment schemes no longer take unstructured ones. */
import Type, { type Static } from 'typebox'
import { CountryCode, Nullable, Text } from './primitives.ts'

export const Address = Type.Object(
  {
    line1: Text(1, 70),
    line2: Nullable(Text(0, 70)),
    buildingNumber: Nullable(Text(0, 16)),
    city: Text(1, 35),
    postalCode: Nullable(Text(0, 16)),
    state: Nullable(Text(0, 35, { description: 'ISO 3166-2 suffix.' })),
    country: CountryCode,
  },
  { title: 'Address' },
)

/** An address as clients send it. */
export const AddressInput = Type.Object(
  {
    line1: Text(1, 70),
    line2: Type.Optional(Nullable(Text(0, 70))),
    buildingNumber: Type.Optional(Nullable(Text(0, 16))),
    city: Text(1, 35),
    postalCode: Type.Optional(Nullable(Text(0, 16))),
    state: Type.Optional(Nullable(Text(0, 35, { description: 'ISO 3166-2 suffix.' }))),
    country: CountryCode,
  },
  { title: 'AddressInput', additionalProperties: false },
)

const OPTIONAL_MEMBERS = { line2: null, buildingNumber: null, postalCode: null, state: null }

/** Completes an address of a client: members that were not sent are null. */
export const completeAddress = (given: Static<typeof AddressInput>): Static<typeof Address> => ({
  ...OPTIONAL_MEMBERS,
  ...given,
})
