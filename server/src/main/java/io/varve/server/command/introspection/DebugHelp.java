package io.varve.server.command.introspection;

import java.util.Locale;

import io.varve.server.command.HelpText;
import io.varve.server.resp.ReplyWriter;

/** The texts and test values of DEBUG HELP and DEBUG PROTOCOL. Immutable: static methods only. */
final class DebugHelp {
    private static final int VALUES = 3;

    private DebugHelp() {}

    static void reply(ReplyWriter reply) {
        HelpText.reply(reply, "DEBUG", "CHANGE-REPL-ID", "    Change the replication ID of the server.", "DIGEST",
                "    Output a hex signature representing the current DB content.", "DIGEST-VALUE <key> [<key> ...]",
                "    Output a hex signature of the values of all the specified keys.", "ERROR <string>",
                "    Return a protocol error with <string> as message.", "LISTPACK <key>",
                "    Show the size of a value with the listpack encoding.", "LOADAOF",
                "    Load the append-only log in place of all data.", "LOG <message>",
                "    Write <message> to the server log.", "OBJECT <key>",
                "    Show low level info about `key` and associated value.", "PAUSE-CRON <0|1>", "    Has no effect.",
                "POPULATE <count> [<prefix>] [<size>]",
                "    Create <count> string keys named key:<num>. If <prefix> is specified then",
                "    it is used instead of the 'key' prefix. These are not propagated to",
                "    replicas.", "PROTOCOL <type>",
                "    Reply with a test value of the specified type. <type> can be: string,",
                "    integer, double, bignum, null, array, set, map, attrib, push, verbatim,", "    true, false.",
                "QUICKLIST-PACKED-THRESHOLD <size>", "    Has no effect.", "RELOAD [option ...]",
                "    Save the RDB on disk and reload it back to memory. Valid <option> values:",
                "    * MERGE: ignored", "    * NOFLUSH: the existing database will not be removed.",
                "    * NOSAVE: the database will be loaded from an existing RDB file.", "REPLICATE <string>",
                "    Replicates the provided string to replicas, allowing data divergence.",
                "SET-ACTIVE-EXPIRE <0|1>", "    Setting it to 0 disables expiring keys in background.",
                "SLEEP <seconds>", "    Stop the event loop for <seconds>. Decimals allowed.",
                "STRINGMATCH-LEN <pattern> <string>",
                "    Return 1 if the glob-style pattern matches the string, else 0.");
    }

    /** Replies the test value of a type. */
    static void replyOfType(ReplyWriter reply, String type) {
        switch (type.toLowerCase(Locale.ROOT)) {
            case "string" -> reply.bulkAscii("Hello World");
            case "integer" -> reply.integer(12_345);
            case "double" -> reply.doubleValue(3.141);
            case "bignum" -> reply.bigNumber("1234567999999999999999999999999999999");
            case "null" -> reply.nil();
            case "array" -> {
                reply.array(VALUES);
                integers(reply);
            }
            case "set" -> {
                reply.set(VALUES);
                integers(reply);
            }
            case "map" -> {
                reply.map(VALUES);
                for (int i = 0; i < VALUES; i++) {
                    reply.integer(i);
                    reply.bool(i == 1);
                }
            }
            case "attrib" -> attribute(reply);
            case "push" -> push(reply);
            case "true" -> reply.bool(true);
            case "false" -> reply.bool(false);
            case "verbatim" -> reply.verbatim("txt", "This is a verbatim\nstring");
            default -> reply.error("ERR Wrong protocol type name. Please use one of the following: "
                    + "string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false");
        }
    }

    private static void integers(ReplyWriter reply) {
        for (int i = 0; i < VALUES; i++) {
            reply.integer(i);
        }
    }

    /** An attribute is no reply: one follows. */
    private static void attribute(ReplyWriter reply) {
        if (reply.resp3()) {
            reply.attribute(1);
            reply.bulkAscii("key-popularity");
            reply.array(2);
            reply.bulkAscii("key:123");
            reply.integer(90);
        }
        reply.bulkAscii("Some real reply following the attribute");
    }

    /** A push is no reply: one follows. */
    private static void push(ReplyWriter reply) {
        if (!reply.resp3()) {
            reply.error("ERR RESP2 is not supported by this command");
            return;
        }
        reply.push(2);
        reply.bulkAscii("server-cpu-usage");
        reply.integer(42);
        reply.bulkAscii("Some real reply following the push reply");
    }
}
