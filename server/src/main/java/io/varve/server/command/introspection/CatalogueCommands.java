package io.varve.server.command.introspection;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;

import io.varve.memory.offheap.Memory;
import io.varve.server.command.Arguments;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandFlag;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.EmbeddedArguments;
import io.varve.server.command.HelpText;
import io.varve.server.command.Invocation;
import io.varve.server.command.KeyPlaces;
import io.varve.server.command.KeyUse;
import io.varve.server.command.ServerContext;
import io.varve.server.command.TableNames;
import io.varve.server.command.text.GlobPattern;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

import static io.varve.server.command.CommandFlag.LOADING;
import static io.varve.server.command.CommandFlag.STALE;

/**
 * COMMAND: what the table tells of its commands. Immutable; the table is the server's, complete before the first
 * connection.
 */
public final class CatalogueCommands {
    private static final String ORDER = "nondeterministic_output_order";
    /** COMMAND GETKEYS and the smallest command that has a key. */
    private static final int EMBEDDED_AT = 2;

    private final ServerContext server;

    public CatalogueCommands(ServerContext server) {
        this.server = server;
    }

    /** Adds the family. */
    public void register(CommandTable.Builder table) {
        table.add(describe("command", -1, "2.8.13", "Tells of all commands.").tips(ORDER)
                .complexity("O(N) in the commands").handler(call -> infos(call, table().commands()))
                .subcommand(describe("count", 2, "2.8.13", "How many commands there are.")
                        .handler(call -> call.reply().integer(table().size())))
                .subcommand(
                        describe("info", -2, "2.8.13", "Arity, flags and keys of commands, of all or of those named.")
                                .tips(ORDER).complexity("O(N) in the commands asked for").handler(this::info))
                .subcommand(describe("docs", -2, "7.0.0", "What commands are for, of all or of those named.")
                        .tips(ORDER).complexity("O(N) in the commands asked for").handler(this::docs))
                .subcommand(describe("list", -2, "7.0.0", "The names of the commands, of all or of some.").tips(ORDER)
                        .complexity("O(N) in the commands").handler(this::list))
                .subcommand(describe("getkeys", -3, "2.8.13", "The keys in a whole command.")
                        .complexity("O(N) in the arguments").handler(call -> keys(call, false)))
                .subcommand(describe("getkeysandflags", -3, "7.0.0",
                        "The keys in a whole command, and what is done to them.").complexity("O(N) in the arguments")
                        .handler(call -> keys(call, true)))
                .subcommand(HelpText.describe("server", "5.0.0").categories("@connection")
                        .handler(CatalogueCommands::help)));
    }

    private static CommandBuilder describe(String name, int arity, String since, String summary) {
        return CommandSpec.named(name).arity(arity).group("server").since(since).summary(summary)
                .flags(LOADING, STALE).categories("@connection");
    }

    private CommandTable table() {
        return server.commands();
    }

    /** The command or, after a bar, subcommand that an argument names in any case. */
    private @Nullable CommandSpec named(Invocation call, int argument) {
        return table().find(call.argumentString(argument).toLowerCase(Locale.ROOT));
    }

    // --- INFO

    private void info(Invocation call) {
        if (call.argumentCount() == 2) {
            infos(call, table().commands());
            return;
        }
        call.reply().array(call.argumentCount() - 2);
        for (int i = 2; i < call.argumentCount(); i++) {
            CommandSpec spec = named(call, i);
            if (spec == null) {
                call.reply().nil();
            } else {
                info(call.reply(), spec);
            }
        }
    }

    private static void infos(Invocation call, Collection<CommandSpec> specs) {
        call.reply().array(specs.size());
        for (CommandSpec spec : specs) {
            info(call.reply(), spec);
        }
    }

    private static void info(ReplyWriter reply, CommandSpec spec) {
        reply.array(10);
        reply.bulkAscii(spec.fullName());
        reply.integer(spec.arity());
        reply.set(spec.flags().size());
        for (CommandFlag flag : spec.flags()) {
            reply.simple(flag.redisName());
        }
        reply.integer(spec.firstKey());
        reply.integer(spec.lastKey());
        reply.integer(spec.keyStep());
        reply.set(spec.categories().size());
        spec.categories().forEach(reply::simple);
        reply.set(spec.tips().size());
        spec.tips().forEach(reply::bulkAscii);
        reply.set(spec.keyUses().size());
        spec.keyUses().forEach(use -> keyUse(reply, use));
        reply.set(spec.subcommands().size());
        spec.subcommands().values().forEach(child -> info(reply, child));
    }

    private static void keyUse(ReplyWriter reply, KeyUse use) {
        reply.map(3);
        reply.bulkAscii("flags");
        flags(reply, use.flags());
        if (use.isUnknown()) {
            unknown(reply, "begin_search");
            unknown(reply, "find_keys");
            return;
        }
        reply.bulkAscii("begin_search");
        reply.map(2);
        reply.bulkAscii("type");
        reply.bulkAscii(use.word().isEmpty() ? "index" : "keyword");
        reply.bulkAscii("spec");
        if (use.word().isEmpty()) {
            reply.map(1);
            number(reply, "index", use.firstKey());
        } else {
            reply.map(2);
            reply.bulkAscii("keyword");
            reply.bulkAscii(use.word());
            number(reply, "startfrom", use.firstKey());
        }
        reply.bulkAscii("find_keys");
        reply.map(2);
        reply.bulkAscii("type");
        reply.bulkAscii(use.counted() ? "keynum" : "range");
        reply.bulkAscii("spec");
        reply.map(3);
        if (use.counted()) {
            number(reply, "keynumidx", 0);
            number(reply, "firstkey", 1);
            number(reply, "keystep", use.keyStep());
        } else {
            number(reply, "lastkey", use.lastKey());
            number(reply, "keystep", use.keyStep());
            number(reply, "limit", 0);
        }
    }

    private static void unknown(ReplyWriter reply, String name) {
        reply.bulkAscii(name);
        reply.map(2);
        reply.bulkAscii("type");
        reply.bulkAscii("unknown");
        reply.bulkAscii("spec");
        reply.map(0);
    }

    private static void number(ReplyWriter reply, String name, long value) {
        reply.bulkAscii(name);
        reply.integer(value);
    }

    private static void flags(ReplyWriter reply, List<String> flags) {
        reply.set(flags.size());
        flags.forEach(reply::simple);
    }

    // --- DOCS

    private void docs(Invocation call) {
        Collection<CommandSpec> wanted = table().commands();
        if (call.argumentCount() > 2) {
            wanted = new ArrayList<>();
            for (int i = 2; i < call.argumentCount(); i++) {
                CommandSpec spec = named(call, i);
                if (spec != null) {
                    wanted.add(spec);
                }
            }
        }
        docs(call.reply(), wanted);
    }

    private static void docs(ReplyWriter reply, Collection<CommandSpec> specs) {
        reply.map(specs.size());
        for (CommandSpec spec : specs) {
            reply.bulkAscii(spec.fullName());
            reply.map(spec.hasSubcommands() ? 5 : 4);
            field(reply, "summary", spec.summary());
            field(reply, "since", spec.since());
            field(reply, "group", spec.group());
            field(reply, "complexity", spec.complexity());
            if (spec.hasSubcommands()) {
                reply.bulkAscii("subcommands");
                docs(reply, spec.subcommands().values());
            }
        }
    }

    private static void field(ReplyWriter reply, String name, String text) {
        reply.bulkAscii(name);
        reply.bulkText(text);
    }

    // --- LIST

    private void list(Invocation call) {
        if (call.argumentCount() == 2) {
            names(call, _ -> true);
        } else if (call.argumentCount() != 5 || !call.argumentIs(2, "FILTERBY")) {
            call.syntaxError();
        } else if (call.argumentIs(3, "MODULE")) {
            names(call, _ -> false);
        } else if (call.argumentIs(3, "ACLCAT")) {
            String category = "@" + call.argumentString(4).toLowerCase(Locale.ROOT);
            names(call, spec -> spec.categories().contains(category));
        } else if (call.argumentIs(3, "PATTERN")) {
            names(call, spec -> matches(call, spec.fullName()));
        } else {
            call.syntaxError();
        }
    }

    private static boolean matches(Invocation call, String name) {
        byte[] bytes = name.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        long address = call.scratch(bytes.length);
        Memory.copy(bytes, 0, address, bytes.length);
        return GlobPattern.matches(call.argumentAddress(4), call.argumentLength(4), address, bytes.length, true);
    }

    private void names(Invocation call, Predicate<CommandSpec> wanted) {
        List<CommandSpec> found = table().visible().stream().filter(wanted).toList();
        call.reply().array(found.size());
        for (CommandSpec spec : found) {
            call.reply().bulkAscii(spec.fullName());
        }
    }

    // --- GETKEYS

    private void keys(Invocation call, boolean withFlags) {
        EmbeddedArguments embedded = new EmbeddedArguments(call, EMBEDDED_AT);
        CommandSpec spec = TableNames.find(table(), embedded);
        if (spec == null) {
            call.reply().error("ERR Invalid command specified");
        } else if (!spec.namesKeys()) {
            call.reply().error("ERR The command has no key arguments");
        } else if (!spec.acceptsCount(embedded.argumentCount())) {
            call.reply().error("ERR Invalid number of arguments specified for command");
        } else {
            List<Integer> indexes = KeyPlaces.indexes(spec, embedded);
            if (indexes.isEmpty() && !spec.has(CommandFlag.NO_MANDATORY_KEYS)) {
                call.reply().error("ERR Invalid arguments specified for command");
                return;
            }
            call.reply().array(indexes.size());
            for (int index : indexes) {
                key(call.reply(), spec, embedded, index, withFlags);
            }
        }
    }

    private static void key(ReplyWriter reply, CommandSpec spec, Arguments arguments, int index, boolean withFlags) {
        if (!withFlags) {
            reply.bulk(arguments.argumentAddress(index), arguments.argumentLength(index));
            return;
        }
        reply.array(2);
        reply.bulk(arguments.argumentAddress(index), arguments.argumentLength(index));
        flags(reply, spec.keyFlags(arguments, index));
    }

    private static void help(Invocation call) {
        HelpText.reply(call.reply(), "COMMAND", "(no subcommand)", "    Arity, flags and keys of every command.",
                "COUNT",
                "    The number of commands.", "LIST",
                "    The names of all commands, or with FILTERBY (MODULE <name>|ACLCAT <category>|PATTERN <glob>)",
                "    of those that pass the filter.", "INFO [<command-name> ...]",
                "    Arity, flags and keys of the named commands; without names, of all of them.",
                "DOCS [<command-name> ...]", "    What the named commands are for; without names, all of them.",
                "GETKEYS <full-command>", "    The keys among the arguments of a whole command.",
                "GETKEYSANDFLAGS <full-command>", "    These keys, each with what is done to it.");
    }
}
