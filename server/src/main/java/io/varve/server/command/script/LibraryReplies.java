package io.varve.server.command.script;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.varve.server.command.CommandContext;
import io.varve.server.command.HelpText;
import io.varve.server.command.text.GlobPattern;
import io.varve.server.rdb.LibraryPayload;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.script.FunctionLibrary;
import io.varve.server.script.LibraryFunction;
import io.varve.server.script.LibrarySet;
import io.varve.server.script.ScriptFlag;
import io.varve.server.script.ScriptRun;
import io.varve.server.script.Scripting;
import io.varve.server.system.NativeMemory;

/** FUNCTION LIST, STATS, DUMP and HELP. Immutable, shared by all event loops. */
final class LibraryReplies {
    private static final String[] HELP = {"LOAD [REPLACE] <FUNCTION CODE>",
            "    Create a new library with the given library name and code.", "DELETE <LIBRARY NAME>",
            "    Delete the given library.", "LIST [LIBRARYNAME PATTERN] [WITHCODE]",
            "    Return general information on all the libraries: name, engine, functions,",
            "    and the code if WITHCODE is given. LIBRARYNAME selects libraries by a pattern.", "STATS",
            "    Return the running function, its command and its duration in milliseconds,",
            "    and a list of the engines.", "KILL", "    Kill the current running function.", "FLUSH [ASYNC|SYNC]",
            "    Delete all the libraries.", "DUMP",
            "    Return a serialized payload of the current libraries, for FUNCTION RESTORE.",
            "RESTORE <PAYLOAD> [FLUSH|APPEND|REPLACE]",
            "    Restore the libraries of a payload. FLUSH deletes all existing libraries first,",
            "    APPEND (the default) fails if a library exists, REPLACE replaces it."};

    private static final int NONE = -1;

    private final Scripting scripting;

    LibraryReplies(Scripting scripting) {
        this.scripting = scripting;
    }

    void help(CommandContext context) {
        HelpText.reply(context.reply(), "FUNCTION", HELP);
    }

    void dump(CommandContext context) {
        List<byte[]> sources = FunctionCommands.sources(scripting.libraries().current());
        try (NativeMemory memory = new NativeMemory()) {
            MemorySegment[] payload = new MemorySegment[1];
            int length = LibraryPayload.write(sources, bytes -> {
                payload[0] = memory.allocate(bytes);
                return payload[0].address();
            });
            context.reply().bulk(payload[0].address(), length);
        }
    }

    // --- LIST

    void list(CommandContext context) {
        boolean withCode = false;
        int pattern = NONE;
        for (int i = 2; i < context.argumentCount(); i++) {
            if (!withCode && context.argumentIs(i, "WITHCODE")) {
                withCode = true;
            } else if (pattern == NONE && context.argumentIs(i, "LIBRARYNAME")) {
                if (++i == context.argumentCount()) {
                    context.reply().error("ERR library name argument was not given");
                    return;
                }
                pattern = i;
            } else {
                context.reply().error("ERR Unknown argument " + context.argumentString(i));
                return;
            }
        }
        List<FunctionLibrary> found = matching(context, pattern);
        context.reply().array(found.size());
        for (FunctionLibrary library : found) {
            describe(context.reply(), library, withCode);
        }
    }

    /** As in Redis, the case of a name does not matter. */
    private List<FunctionLibrary> matching(CommandContext context, int pattern) {
        List<FunctionLibrary> found = new ArrayList<>();
        for (FunctionLibrary library : scripting.libraries().current().libraries()) {
            byte[] name = library.name().getBytes(StandardCharsets.US_ASCII);
            if (pattern == NONE || GlobPattern.matches(context.argumentAddress(pattern),
                    context.argumentLength(pattern), context.scratch(name), name.length, true)) {
                found.add(library);
            }
        }
        return found;
    }

    private static void describe(ReplyWriter reply, FunctionLibrary library, boolean withCode) {
        reply.map(withCode ? 4 : 3);
        reply.bulkAscii("library_name");
        reply.bulkAscii(library.name());
        reply.bulkAscii("engine");
        reply.bulkAscii(FunctionLibrary.ENGINE);
        reply.bulkAscii("functions");
        reply.array(library.functions().size());
        for (LibraryFunction function : library.functions()) {
            describe(reply, function);
        }
        if (withCode) {
            reply.bulkAscii("library_code");
            reply.bulk(library.source());
        }
    }

    private static void describe(ReplyWriter reply, LibraryFunction function) {
        reply.map(3);
        reply.bulkAscii("name");
        reply.bulkAscii(function.name());
        reply.bulkAscii("description");
        byte[] description = function.description();
        if (description == null) {
            reply.nil();
        } else {
            reply.bulk(description);
        }
        reply.bulkAscii("flags");
        reply.set(function.flags().size());
        for (ScriptFlag flag : function.flags()) {
            reply.simple(flag.redisName());
        }
    }

    // --- STATS

    void stats(CommandContext context) {
        ReplyWriter reply = context.reply();
        ScriptRun slow = scripting.running().slow();
        ScriptRun.RunDescription running = slow == null ? null : slow.description();
        if (slow != null && running != null && !slow.isFunction()) {
            reply.error(String.valueOf(scripting.running().busyError()));
            return;
        }
        reply.map(2);
        reply.bulkAscii("running_script");
        if (slow == null || running == null) {
            reply.nil();
        } else {
            reply.map(3);
            reply.bulkAscii("name");
            reply.bulkText(running.name());
            reply.bulkAscii("command");
            reply.array(running.command().size());
            running.command().forEach(reply::bulkText);
            reply.bulkAscii("duration_ms");
            reply.integer(slow.millis(scripting.running().nanoTime()));
        }
        LibrarySet all = scripting.libraries().current();
        reply.bulkAscii("engines");
        reply.map(1);
        reply.bulkAscii(FunctionLibrary.ENGINE);
        reply.map(2);
        reply.bulkAscii("libraries_count");
        reply.integer(all.libraries().size());
        reply.bulkAscii("functions_count");
        reply.integer(all.functionCount());
    }
}
