package io.varve.server.command.batch;

import java.util.Objects;

import io.varve.server.command.spec.CommandFlag;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.spec.ScriptDeclaration;
import org.jspecify.annotations.Nullable;

/** Finds whether a command that runs a script may write, by the flags of the script. Immutable: static methods only. */
public final class ScriptUse {
    private ScriptUse() {}

    /** The flags of the script that a command runs; null if it runs none, or if the script has no header. */
    public static @Nullable ScriptDeclaration declaration(Batch batch, int command) {
        CommandSpec.Declarations declarations = Objects.requireNonNull(batch.spec(command)).declarations();
        return declarations == null ? null : declarations.of(new BatchArguments(batch, command));
    }

    /** Whether a command runs a script that has a header, which does not promise to write nothing. */
    public static boolean declaresWrites(Batch batch, int command) {
        ScriptDeclaration declared = declaration(batch, command);
        return declared != null && declared.writes();
    }

    /** Whether a command writes, or runs a script that does not declare that it only reads. */
    public static boolean mayWrite(Batch batch, int command) {
        CommandSpec spec = Objects.requireNonNull(batch.spec(command));
        if (!spec.has(CommandTrait.RUNS_SCRIPT)) {
            return spec.isWrite();
        }
        ScriptDeclaration declared = declaration(batch, command);
        return declared == null ? !spec.has(CommandFlag.READONLY) : declared.writes();
    }

    /** Whether any command of a transaction may write, as {@link #mayWrite(Batch, int)} says. */
    public static boolean mayWrite(Batch queued) {
        for (int i = 0; i < queued.commandCount(); i++) {
            if (mayWrite(queued, i)) {
                return true;
            }
        }
        return false;
    }
}
