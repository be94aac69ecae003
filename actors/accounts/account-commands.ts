/** Writes of accounts. */
import type { AddMoneyCommand } from '../../http/add-money.ts'

export interface AccountCommands {
  readonly addMoney: AddMoneyCommand
}
