package io.varve.server.command;

import io.varve.server.resp.ReplyWriter;

/** How HELP subcommands answer. Immutable: static methods only. */
final class HelpText {
    private HelpText() {}

    /** Replies the lines between the head and HELP's own two, all as simple strings. */
    static void reply(ReplyWriter reply, String command, String... lines) {
        reply.array(lines.length + 3L);
        reply.simple(command + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
        for (String line : lines) {
            reply.simple(line);
        }
        reply.simple("HELP");
        reply.simple("    Print this help.");
    }
}
