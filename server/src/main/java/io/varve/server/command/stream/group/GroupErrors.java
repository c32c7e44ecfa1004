package io.varve.server.command.stream.group;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;

/** Error replies of group commands. Immutable: static methods only. */
final class GroupErrors {
    /** A blocked client's group was destroyed. */
    static final String GROUP_IS_GONE = "NOGROUP the consumer group this client was blocked on no longer exists";
    /** A blocked client's key was deleted or has another type. */
    static final String STREAM_IS_GONE = "UNBLOCKED the stream key no longer exists";
    static final String NO_SUCH_KEY = "ERR no such key";

    private static final int SHOWN_BYTES = 128;

    private GroupErrors() {}

    /** A key exists, but not its group. */
    static void noGroup(CommandContext context, int keyArgument, int groupArgument) {
        context.reply().errorOfBytes("NOGROUP No such consumer group '" + text(context, groupArgument)
                + "' for key name '" + text(context, keyArgument) + "'");
    }

    /** A key or its group does not exist. */
    static void noKeyOrGroup(CommandContext context, int keyArgument, int groupArgument, String rest) {
        context.reply().errorOfBytes("NOGROUP No such key '" + text(context, keyArgument) + "' or consumer group '"
                + text(context, groupArgument) + "'" + rest);
    }

    /** The arguments do not fit the subcommand. */
    static void badSubcommand(CommandContext context, String command) {
        String name = text(context, 1);
        context.reply().errorOfBytes("ERR unknown subcommand or wrong number of arguments for '"
                + name.substring(0, Math.min(SHOWN_BYTES, name.length())) + "'. Try "
                + command.toUpperCase(Locale.ROOT) + " HELP.");
    }

    /** An argument up to a zero byte, as Redis shows it; each char is a byte. */
    static String text(CommandContext context, int argument) {
        byte[] bytes = Memory.toArray(context.argumentAddress(argument), context.argumentLength(argument));
        int length = 0;
        while (length < bytes.length && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
    }
}
