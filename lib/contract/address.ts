/** Postal addresses. Town and country are mandatory: payment schemes no longer take unstructured ones. */
import Type from 'typebox'
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
