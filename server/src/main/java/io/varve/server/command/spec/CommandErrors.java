package io.varve.server.command.spec;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

import io.varve.memory.offheap.Memory;

/** Redis's error texts for commands that cannot run, whatever their handler. Stateless. */
public final class CommandErrors {
    /** The client has to authenticate first. */
    public static final String NO_AUTH = "NOAUTH Authentication required.";

    private static final String NOT_WHILE_LISTENING = "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET "
            + "are allowed in this context";
    /** Longest part of a request that a message repeats, bytes. */
    private static final int SHOWN_BYTES = 128;

    private CommandErrors() {}

    /** The error for a name that is no command. */
    public static String unknown(Arguments arguments) {
        StringBuilder text = new StringBuilder("ERR unknown command '").append(text(arguments, 0, SHOWN_BYTES))
                .append("', with args beginning with: ");
        int left = SHOWN_BYTES;
        for (int i = 1; i < arguments.argumentCount() && left > 0; i++) {
            String argument = text(arguments, i, left);
            text.append('\'').append(argument).append("' ");
            left -= argument.length() + 3;
        }
        return text.toString();
    }

    /** The error for a second argument that is no subcommand. */
    public static String unknownSubcommand(CommandSpec spec, Arguments arguments) {
        return "ERR unknown subcommand '" + text(arguments, 1, SHOWN_BYTES) + "'. Try "
                + spec.name().toUpperCase(Locale.ROOT) + " HELP.";
    }

    /** The error for a wrong number of arguments. */
    public static String wrongCount(CommandSpec spec) {
        return "ERR wrong number of arguments for '" + spec.fullName() + "' command";
    }

    /** The error for a command that RESP2 subscriber mode does not allow. */
    public static String notWhileListening(CommandSpec spec) {
        return "ERR Can't execute '" + spec.fullName() + NOT_WHILE_LISTENING;
    }

    /** The first bytes of an argument as text. */
    public static String text(Arguments arguments, int index, int maxBytes) {
        int length = Math.min(arguments.argumentLength(index), maxBytes);
        return new String(Memory.toArray(arguments.argumentAddress(index), length), StandardCharsets.UTF_8);
    }
}
