/**
 * The addresses that providers may have. Staff of an operator name them, so they are public ones, as for webhooks
 * (lib/webhooks/target.ts); whoever runs the service may allow networks of its own beside them, for banks that are
 * reached through a line of their own.
 */
import { compileAllowlist } from '../security/ip-allowlist.ts'
import { checkTarget, isPublicAddress, type Target, type TargetPolicy } from '../webhooks/target.ts'

export interface ProviderTargets {
  readonly policy: TargetPolicy
  /** Addresses and blocks inside of the own network that are allowed beside the public ones. */
  readonly networks: readonly string[]
}

/** Returns the check of a single address. */
export function addressFilter({ policy, networks }: ProviderTargets): (address: string) => boolean {
  const allowed = compileAllowlist(networks)
  return (address) =>
    policy === 'any' ||
    isPublicAddress(address) ||
    (allowed?.check(address, address.includes(':') ? 'ipv6' : 'ipv4') ?? false)
}

/** Checks the URL of a provider without resolving it: a name of the own network is allowed where addresses of it are. */
export function checkProviderUrl(text: string, targets: ProviderTargets): Target {
  const target = checkTarget(text, targets.policy)
  const isInside = target.kind === 'unsafe' && (target.rule === 'address' || target.rule === 'host_name')
  if (!isInside || targets.networks.length === 0) return target
  const found = checkTarget(text, 'any')
  if (found.kind !== 'ok') return target
  return found.address === null || addressFilter(targets)(found.address) ? found : target
}
