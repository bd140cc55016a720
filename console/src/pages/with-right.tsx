import type { ComponentChildren } from "preact";
import { NoRight } from "../../design/placeholders.tsx";
import { me } from "../api/api.ts";
import { withHolders } from "../api/holders.ts";
import { hasRight, type Right } from "../api/roles.ts";

type WithRightProps = {
  readonly needs: Right;
  /** "Only an owner sees and changes members": the names of those who can follow. */
  readonly says: string;
  /** The page's head, for a page whose own head is among the children. */
  readonly head?: ComponentChildren;
  readonly children: ComponentChildren;
};

/** What only some roles may see, or who may. Nothing is asked of the service for the others. */
export const WithRight = ({ needs, says, head, children }: WithRightProps) => {
  const role = me.value?.member.role ?? "";
  return hasRight(role, needs) ? (
    children
  ) : (
    <>
      {head}
      <NoRight>
        <p>
          {withHolders(says, needs)} Your role in {me.value?.account.name} is {role}.
        </p>
      </NoRight>
    </>
  );
};
