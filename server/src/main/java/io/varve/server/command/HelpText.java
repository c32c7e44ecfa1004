package io.varve.server.command;

import io.varve.server.resp.ReplyWriter;

/** How HELP subcommands answer. Immutable: static methods only. */
public final class HelpText {
    private HelpText() {}

    /** A HELP subcommand, to which its categories and handler are to be added. */
    public static CommandBuilder describe(String group, String since) {
        return CommandSpec.named("help").arity(2).group(group).since(since)
                .flags(CommandFlag.LOADING, CommandFlag.STALE).summary("Shows what the subcommands do.");
    }

    /** Replies the lines between the head and HELP's own two, all as simple strings. */
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
