/** Audit checks of forwards and held rates: their amounts add up, and every deposit is where they record it. */

/** SQL: whether a deposit is held, 1 or 0; then its full received amount is still there. */
const KEPT = `case when e.deposit_status in ('awaiting', 'received', 'margin_call') then 1 else 0 end`

export const CONTRACT_CHECKS = [
  {
    name: 'forward deposits',
    promise:
      'what is in fx_deposit and with the partner is, for each forward and currency, what its row says is kept; a drawdown that is under way still has its part with the partner',
    sql: `select coalesce(e.id, m.contract_id) as exchange_id, e.deposit_status, e.deposit_received, e.deposit_placed, m.currency, m.kept, m.placed, u.used from exchange e
      full join (
        select coalesce(x.parent_exchange_id, x.id) as contract_id, p.currency,
          sum(case when c.key = 'fx_deposit' then p.amount else 0 end - case when d.key = 'fx_deposit' then p.amount else 0 end) as kept,
          sum(case when d.key = 'partner_deposit' then p.amount else 0 end - case when c.key = 'partner_deposit' then p.amount else 0 end) as placed
        from posting p join exchange x on x.id = p.source_id left join account d on d.id = p.debit_account left join account c on c.id = p.credit_account
        where p.source_object = 'exchange' and (d.key in ('fx_deposit', 'partner_deposit') or c.key in ('fx_deposit', 'partner_deposit')) group by 1, 2) m on m.contract_id = e.id
      left join lateral (select coalesce(sum(x.deposit_placed_used), 0) as used from exchange x where x.parent_exchange_id = e.id and x.status in ('processing', 'exception')) u on true
      where (m.contract_id is not null or e.deposit_received > 0) and (e.kind is distinct from 'forward' or coalesce(m.currency, e.sell_currency) <> e.sell_currency
        or coalesce(m.kept, 0) <> ${KEPT} * e.deposit_received or coalesce(m.placed, 0) <> ${KEPT} * e.deposit_placed + u.used)`,
  },
  {
    name: 'contracts and their drawdowns',
    promise:
      'what was drawn and has not failed, and what is left, are the whole of a contract; its status says which; it will be looked at while something of it is due',
    sql: `select e.id as exchange_id, e.kind, e.status, e.sell_amount, e.remaining_sell, d.sold, e.buy_amount, e.remaining_buy, d.bought, e.drawdown_count, d.drawdowns, e.due_at from exchange e
      cross join lateral (
        select count(*) as drawdowns, coalesce(sum(x.sell_amount) filter (where x.status <> 'failed'), 0) as sold, coalesce(sum(x.buy_amount) filter (where x.status <> 'failed'), 0) as bought
        from exchange x where x.parent_exchange_id = e.id) d
      where e.kind in ('forward', 'held_rate') and not coalesce(
        e.remaining_sell + d.sold = e.sell_amount and e.remaining_buy + d.bought = e.buy_amount and e.drawdown_count = d.drawdowns and (e.remaining_sell = 0) = (e.remaining_buy = 0)
        and (e.status = 'completed') = (e.remaining_sell = 0) and (e.status <> 'active' or e.remaining_sell = e.sell_amount) and (e.status <> 'partially_drawn' or e.remaining_sell < e.sell_amount)
        and (e.due_at is not null) = (e.status in ('awaiting_deposit', 'active', 'partially_drawn', 'overdue'))
        and (e.kind = 'forward') = (e.deposit_status is not null) and (e.kind = 'held_rate' or e.held_until is null), false)
      union all
      select x.id, x.kind, x.status, x.sell_amount, null, null, x.buy_amount, null, null, 0, 0, null from exchange x left join exchange e on e.id = x.parent_exchange_id
      where (x.kind = 'drawdown') <> (e.id is not null) or (e.id is not null and (e.kind not in ('forward', 'held_rate') or e.customer_id <> x.customer_id
        or e.sell_currency <> x.sell_currency or e.buy_currency <> x.buy_currency or e.rate <> x.rate))`,
  },
] as const
