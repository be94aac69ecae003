export interface Payer { readonly customerId: string; readonly balanceId: string; readonly shard: number; readonly recipient: import('../lib/payments/create-payment.ts').CreatePayment['recipient'] }
