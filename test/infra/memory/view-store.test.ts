import { memoryViewStore } from "../../../infra/memory/view-store.ts";
import { viewStoreContract } from "../../contract/view-store.ts";

viewStoreContract("memory", async (schemas) => memoryViewStore(schemas));
