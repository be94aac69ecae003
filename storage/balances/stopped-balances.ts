/** Balances of which no payment leaves: frozen ones, and those of customers that staff have restricted or suspended. */
/**
 * SQL condition: the balance with this alias pays nothing for the present. Few balances do, and they have an index
 * (`balance_stopped`), whose condition this is.
 */
export const paysNothing = (balance: string): string =>
  `(${balance}.status = 'frozen' or ${balance}.customer_measure is not null)`
