/** Transfers as operations of the API. */
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'
import type { TransferCreate } from '../../lib/transfers/transfer-schema.ts'
import { submitTransfer, type TransferDeps } from './submit-transfer.ts'
import { transferAnswer, type Answers } from '../commands/answers.ts'

/** Writes. A refusal is an answer too; only operating errors and bugs are thrown. */
export interface TransferCommands {
  createTransfer(command: Command<TransferCreate>): Promise<CommandAnswer>
}

/** Builds the operations on transfers. */
export function createTransferCommands(world: TransferDeps, { answer }: Answers): TransferCommands {
  return {
    createTransfer: (command) => answer(command, (caller, body) => submitTransfer(world, caller, body), ({ transfer }) => transferAnswer(transfer, false)),
  }
}
