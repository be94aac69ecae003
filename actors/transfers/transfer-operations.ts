/** The operations on transfers. */
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'
import type { Transfer, TransferCreate } from '../../lib/transfers/transfer-schema.ts'
import { submitTransfer, type TransferDeps } from './submit-transfer.ts'
import { transferAnswer, type Answers } from '../commands/answers.ts'

/** The writes. A refusal is returned as an answer; only operating errors and bugs are thrown. */
export interface TransferCommands {
  createTransfer(command: Command<TransferCreate>): Promise<CommandAnswer<Transfer, 201>>
}

/** Creates the commands of transfers. */
export function createTransferCommands(deps: TransferDeps, { answer }: Answers): TransferCommands {
  return {
    createTransfer: (command) =>
      answer(
        command,
        (caller, body) => submitTransfer(deps, caller, body),
        ({ transfer }) => transferAnswer(transfer, false),
      ),
  }
}
