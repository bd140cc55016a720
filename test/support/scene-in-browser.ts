import { type BrowserPage, openBrowser } from "./browser.ts";
import { signUp } from "./client.ts";
import { type ConsoleScene, consoleScene } from "./console-scene.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "./program.ts";

/** The owner of the account. */
export const WHO = { email: "ana@shop.example", password: "correct horse battery" };

export type SceneInBrowser = {
  readonly program: Program;
  /** Nobody is signed in there yet. */
  readonly page: BrowserPage;
  readonly scene: ConsoleScene;
  /** The approval of the event that is held. */
  readonly held: string;
  close(): Promise<void>;
};

/** A program with an account in which everything has happened, and a browser to look at it. */
export const sceneInBrowser = async (
  binary: string,
  more: { readonly time_zone?: string } = {},
): Promise<SceneInBrowser> => {
  const [program, page] = await Promise.all([startProgram(), openBrowser(binary)]);
  await page.shaped({});
  const client = await signUp(program.url, { ...WHO, ...more });
  const scene = await consoleScene(program.url, client);
  const held = await until("it is held", async () => {
    const { body } = await client.call("GET", `/v1/events/${scene.events.held}`);
    return String(body.approval_id ?? "");
  });
  return {
    ...{ program, page, scene, held },
    async close() {
      await page.close();
      killPrograms();
      await scene.shop.target.close();
      removeFolder(program.dir);
    },
  };
};
