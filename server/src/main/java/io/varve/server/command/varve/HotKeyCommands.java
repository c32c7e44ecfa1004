package io.varve.server.command.varve;

import java.util.List;

import io.varve.memory.hotkeys.HotKeys;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;

/** VARVE.HOTKEYS: the most read keys of the last seconds. Immutable: static handlers. */
public final class HotKeyCommands {
    private static final int USUAL_KEYS = 16;
    private static final String NOT_FOUND = "ERR hot keys are not tracked: enable tracking with CONFIG SET"
            + " hotkeys-tracking yes";

    private HotKeyCommands() {}

    /** Adds this family's commands. */
    public static void addTo(CommandTable.Builder table) {
        table.add(CommandBuilder.named("varve.hotkeys").arity(-1).group("generic").since("0.1.0")
                .categories("@keyspace", "@dangerous")
                .tips("request_policy:all_shards", "nondeterministic_output")
                .complexity("O(N) where N is the number of tracked keys, at most 512")
                .summary("Returns the most read keys of the database, with their reads a second")
                .handler(HotKeyCommands::hotKeys));
    }

    private static void hotKeys(CommandContext context) {
        int count = USUAL_KEYS;
        if (context.argumentCount() > 1) {
            if (context.argumentCount() != 3 || !context.argumentIs(1, "COUNT")) {
                context.syntaxError();
                return;
            }
            if (!CurveCommands.requireInRange(context, 2, "COUNT", 1, HotKeys.MAX_KEYS, "")) {
                return;
            }
            count = (int) context.longValue();
        }
        List<HotKeys.HotKey> hottest = context.cache().hotKeys(context.database(), count);
        if (hottest == null) {
            context.reply().error(NOT_FOUND);
            return;
        }
        context.reply().array(hottest.size());
        for (HotKeys.HotKey each : hottest) {
            context.reply().array(2);
            context.reply().bulk(each.key());
            context.reply().integer(Math.round(each.readsPerSecond()));
        }
    }
}
