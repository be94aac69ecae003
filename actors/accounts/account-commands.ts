/** The writes of accounts. */
import type { AddMoneyCommand } from './add-money.ts'

export interface AccountCommands {
  readonly addMoney: AddMoneyCommand
}
