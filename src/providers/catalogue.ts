import { PROVIDER_TYPES, type ProviderType } from "../../domain/source/events.ts";
import { PROVIDERS, type Provider } from "./provider-schemes.ts";

export type CatalogueEntry = { readonly type: ProviderType } & Pick<Provider, "category" | "auth" | "label">;

export const providerCatalogue = (): CatalogueEntry[] =>
  PROVIDER_TYPES.map((type) => {
    const { category, auth, label } = PROVIDERS[type];
    return { type, category, auth, label };
  });

export const isProviderType = (type: string): type is ProviderType => PROVIDER_TYPES.some((known) => known === type);

export const makeSecret = (type: ProviderType, random: Uint8Array): string => PROVIDERS[type].secret.make(random);

export const checkSecret = (type: ProviderType, secret: string): string | null => PROVIDERS[type].secret.fault(secret);
