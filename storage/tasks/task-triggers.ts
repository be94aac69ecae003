/** The triggers that add tasks, as migration 0052 defines them, for the entities of the tables. */

/** A trigger that calls `add_task` for the rows where a condition holds. */
export interface TaskTrigger {
  /** The columns whose change adds the task again. */
  readonly columns: string
  readonly when: string
  /** The arguments of `add_task`. */
  readonly task: readonly string[]
}

/** The trigger of a table. */
export function taskTrigger(table: string, { columns, when, task }: TaskTrigger) {
  return [
    {
      name: 'task_added',
      timing: 'after' as const,
      events: ['insert' as const, 'update' as const],
      expression: `create trigger task_added after insert or update of ${columns} on ${table} for each row when (${when}) execute function add_task(${task.map((word) => `'${word}'`).join(', ')})`,
    },
  ]
}
