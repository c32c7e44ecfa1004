package io.varve.server.command;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.SpecBuilder;
import org.jspecify.annotations.Nullable;

/** Builds one command: its description and its handler. Confined to the thread that builds the table. */
public final class CommandBuilder extends SpecBuilder<CommandBuilder> {
    private final List<CommandBuilder> children = new ArrayList<>();
    private @Nullable Handler handler;

    private CommandBuilder(String name) {
        super(name);
    }

    /** Starts a description. The name is lower case. */
    public static CommandBuilder named(String name) {
        return new CommandBuilder(name);
    }

    @Override
    protected CommandBuilder self() {
        return this;
    }

    public CommandBuilder handler(Handler value) {
        handler = value;
        runnable();
        return this;
    }

    public CommandBuilder subcommand(CommandBuilder child) {
        children.add(child);
        addSubcommand(child);
        return this;
    }

    /** Builds the description, and adds the handlers of the command and its subcommands. */
    CommandSpec build(Map<CommandSpec, Handler> handlers) {
        CommandSpec spec = buildSpec();
        addHandlers(spec, handlers);
        return spec;
    }

    private void addHandlers(CommandSpec spec, Map<CommandSpec, Handler> handlers) {
        if (handler != null) {
            handlers.put(spec, handler);
        }
        List<CommandSpec> specs = List.copyOf(spec.subcommands().values());
        for (int i = 0; i < specs.size(); i++) {
            children.get(i).addHandlers(specs.get(i), handlers);
        }
    }
}
