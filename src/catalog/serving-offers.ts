/**
 * Returns the offers that serve a model: those under its name, and if no channel, enabled or not, has one,
 * those of the channels that pass any name through. `byModel` has all offers, grouped by their model.
 */
export function servingOffers<Offer>(
  byModel: ReadonlyMap<string, readonly Offer[]>,
  model: string,
): readonly Offer[] {
  return byModel.get(model) ?? byModel.get('*') ?? []
}
