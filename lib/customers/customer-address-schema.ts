/** The addresses of a customer, and its closure. */
import Type, { type Static } from 'typebox'
import { Address, AddressInput } from '../contract/address.ts'
import { Timestamp, Uuid, Words } from '../contract/primitives.ts'

const Kind = Words('CustomerAddressKind', ['registered', 'operating', 'correspondence'])

export const CustomerAddress = Type.Object(
  { id: Uuid, customerId: Uuid, kind: Kind, address: Address, createdAt: Timestamp, updatedAt: Timestamp },
  { title: 'CustomerAddress' },
)
export type CustomerAddress = Static<typeof CustomerAddress>

export const CustomerAddressCreate = Type.Object(
  { kind: Kind, address: AddressInput },
  { title: 'CustomerAddressCreate', additionalProperties: false },
)
export type CustomerAddressCreate = Static<typeof CustomerAddressCreate>
export const CustomerAddressUpdate = Type.Object(
  { kind: Type.Optional(Kind), address: Type.Optional(AddressInput) },
  { title: 'CustomerAddressUpdate', additionalProperties: false },
)
export type CustomerAddressUpdate = Static<typeof CustomerAddressUpdate>

export const CustomerClosure = Type.Object(
  { customerId: Uuid, status: Words('ClosureStatus', ['closing']) },
  { title: 'CustomerClosure' },
)
export type CustomerClosure = Static<typeof CustomerClosure>
