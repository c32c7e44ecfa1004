package io.varve.server.command;

import io.varve.server.command.spec.CommandFlag;
import io.varve.server.resp.ReplyWriter;

/** Replies of HELP subcommands. Immutable: static methods only. */
public final class HelpText {
    private HelpText() {}

    /** Describes a HELP subcommand; the caller adds its categories and handler. */
    public static CommandBuilder describe(String group, String since) {
        return CommandBuilder.named("help").arity(2).group(group).since(since)
                .flags(CommandFlag.LOADING, CommandFlag.STALE).summary("Returns helpful text about the subcommands");
    }

    /** Replies the lines between the header and HELP's own two, all as simple strings. */
    public static void reply(ReplyWriter reply, String command, String... lines) {
        reply.array(lines.length + 3L);
        reply.simple(command + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
        for (String line : lines) {
            reply.simple(line);
        }
        reply.simple("HELP");
        reply.simple("    Print this help.");
    }
}
