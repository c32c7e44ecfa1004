package io.varve.server.command.pubsub;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;

import io.varve.cluster.map.HashSlot;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.server.acl.User;
import io.varve.server.clustering.ClusterView;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.HelpText;
import io.varve.server.command.ServerState;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.spec.KeyUse;
import io.varve.server.command.text.GlobPattern;
import io.varve.server.keys.KeyHashSlots;
import io.varve.server.pubsub.Channels;
import io.varve.server.pubsub.Content;
import io.varve.server.pubsub.Name;
import io.varve.server.pubsub.SubscriptionType;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.LOADING;
import static io.varve.server.command.spec.CommandFlag.NOSCRIPT;
import static io.varve.server.command.spec.CommandFlag.PUBSUB;
import static io.varve.server.command.spec.CommandFlag.STALE;

/** SUBSCRIBE, PUBLISH, PUBSUB and their relatives. Immutable. */
public final class PubSubCommands {
    private static final String GROUP = "pubsub";
    private static final byte[] LINE_END = {'\r', '\n'};
    private static final String NAMES = "O(N) where N is the number of channels or patterns";
    private static final String PER_LISTENER = "O(N) where N is the number of subscribers of the channel";
    private static final String TOO_LONG = "ERR argument is too long";

    private final Channels channels;

    public PubSubCommands(Channels channels) {
        this.channels = channels;
    }

    /** Adds this family's commands. */
    public void register(CommandTable.Builder table) {
        table.add(subscribing("subscribe", -2, "2.0.0", "Subscribes to channels").channels(1, -1)
                .handler(context -> subscribe(context, SubscriptionType.CHANNEL)));
        table.add(subscribing("unsubscribe", -1, "2.0.0", "Unsubscribes from the named channels or from all")
                .handler(context -> unsubscribe(context, SubscriptionType.CHANNEL)));
        table.add(subscribing("psubscribe", -2, "2.0.0", "Subscribes to channels that match patterns")
                .channelPatterns(1, -1).handler(context -> subscribe(context, SubscriptionType.PATTERN)));
        table.add(subscribing("punsubscribe", -1, "2.0.0", "Unsubscribes from the named patterns or from all")
                .handler(context -> unsubscribe(context, SubscriptionType.PATTERN)));
        table.add(subscribing("ssubscribe", -2, "7.0.0", "Subscribes to shard channels").keys(1, -1, 1)
                .access(KeyUse.NO_KEY).channels(1, -1)
                .handler(context -> subscribe(context, SubscriptionType.SHARD_CHANNEL)));
        table.add(
                subscribing("sunsubscribe", -1, "7.0.0", "Unsubscribes from the named shard channels or from all")
                        .keys(1, -1, 1).access(KeyUse.NO_KEY)
                        .handler(context -> unsubscribe(context, SubscriptionType.SHARD_CHANNEL)));
        table.add(describe("publish", 3, "2.0.0", "Publishes a message to a channel").flags(FAST)
                .complexity("O(N+M) where N is the number of subscribers of the channel and M the number of patterns")
                .channels(1, 1).traits(CommandTrait.PUBLISHES, CommandTrait.MAY_REPLICATE)
                .handler(context -> publish(context, SubscriptionType.CHANNEL)));
        table.add(describe("spublish", 3, "7.0.0", "Publishes a message to a shard channel").flags(FAST)
                .complexity(PER_LISTENER).key(1).access(KeyUse.NO_KEY)
                .channels(1, 1).traits(CommandTrait.PUBLISHES, CommandTrait.MAY_REPLICATE)
                .handler(context -> publish(context, SubscriptionType.SHARD_CHANNEL)));
        table.add(CommandBuilder.named("pubsub").arity(-2).group(GROUP).since("2.8.0")
                .complexity("Depends on subcommand.").summary("A container for Pub/Sub introspection commands")
                .subcommand(describe("channels", -2, "2.8.0", "Lists the channels with subscribers")
                        .complexity("O(N) where N is the number of channels")
                        .handler(context -> names(context, SubscriptionType.CHANNEL)))
                .subcommand(describe("numsub", -2, "2.8.0", "Returns the number of subscribers of channels")
                        .complexity(NAMES)
                        .handler(context -> counts(context, SubscriptionType.CHANNEL)))
                .subcommand(describe("numpat", 2, "2.8.0", "Returns the number of patterns with subscribers")
                        .handler(context -> context.reply().integer(channels.count(SubscriptionType.PATTERN))))
                .subcommand(describe("shardchannels", -2, "7.0.0", "Lists the shard channels with subscribers")
                        .complexity("O(N) where N is the number of shard channels")
                        .handler(context -> names(context, SubscriptionType.SHARD_CHANNEL)))
                .subcommand(describe("shardnumsub", -2, "7.0.0", "Returns the number of subscribers of shard channels")
                        .complexity(NAMES).handler(context -> counts(context, SubscriptionType.SHARD_CHANNEL)))
                .subcommand(HelpText.describe(GROUP, "6.2.0").handler(PubSubCommands::help)));
    }

    private static CommandBuilder describe(String name, int arity, String since, String summary) {
        return CommandBuilder.named(name).arity(arity).group(GROUP).since(since).summary(summary)
                .flags(PUBSUB, LOADING, STALE);
    }

    private static CommandBuilder subscribing(String name, int arity, String since, String summary) {
        return describe(name, arity, since, summary).flags(NOSCRIPT).complexity(NAMES)
                .traits(CommandTrait.ALLOWED_WHILE_SUBSCRIBED)
                .traits(CommandTrait.PUSHES);
    }

    // --- subscribe

    private void subscribe(CommandContext context, SubscriptionType scope) {
        if (scope == SubscriptionType.SHARD_CHANNEL && context.isInTransaction()) {
            context.reply().error("ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client");
            return;
        }
        if (scope == SubscriptionType.PATTERN && hasLongArgument(context)) {
            // Every message would be matched against it.
            context.reply().error(TOO_LONG);
            return;
        }
        context.mayHaveChanged(true);
        // The client must not get earlier events.
        context.events().publish();
        User before = context.client().user();
        listen(context, scope);
        // ORDER: pairs with ListenedChannels.disconnectBeyond. The rules may have changed since their check, perhaps
        // twice: then they permit the names again, but messages of the time between may be waiting.
        if (context.client().user() != before || ListenedChannels.areNamedBeyond(context, scope)) {
            context.client().closeAfterReply();
        }
        if (scope == SubscriptionType.SHARD_CHANNEL && context.server().cluster() != null) {
            endIfElsewhere(context, context.server().cluster().view());
        }
    }

    /** Ends subscriptions to shard channels that another member has got since the command was checked. */
    private void endIfElsewhere(CommandContext context, ClusterView view) {
        int slot = KeyHashSlots.INSTANCE.slot(context.argumentAddress(1), context.argumentLength(1));
        if (!view.holds(slot) && !view.isOpen(slot)) {
            channels.endShardChannels(channel -> HashSlot.of(channel.bytes()) == slot);
        }
    }

    private static void listen(CommandContext context, SubscriptionType scope) {
        Subscriptions mine = context.client().subscriptions();
        for (int i = 1; i < context.argumentCount(); i++) {
            if (!mine.add(scope, argument(context, i))) {
                context.reply().error(Errors.OUT_OF_ARGUMENT_MEMORY);
                return;
            }
            confirm(context.reply(), scope.subscribeWord());
            context.reply().bulk(context.argumentAddress(i), context.argumentLength(i));
            context.reply().integer(mine.confirmedCount(scope));
        }
    }

    private static boolean hasLongArgument(CommandContext context) {
        for (int i = 1; i < context.argumentCount(); i++) {
            if (context.argumentLength(i) > Arguments.MAX_TEXT_BYTES) {
                return true;
            }
        }
        return false;
    }

    private static Name argument(CommandContext context, int index) {
        return Name.at(context.argumentAddress(index), context.argumentLength(index));
    }

    /** Begins a confirmation; the name and a count follow. */
    private static void confirm(ReplyWriter reply, String word) {
        reply.push(3);
        reply.bulkAscii(word);
    }

    /** Ends subscriptions. Messages published before the end precede the confirmation, and none follow it. */
    private static void unsubscribe(CommandContext context, SubscriptionType scope) {
        context.mayHaveChanged(true);
        context.events().publish();
        if (context.argumentCount() == 1) {
            unsubscribeFromAll(context, scope);
            return;
        }
        ReplyWriter reply = context.reply();
        Subscriptions mine = context.client().subscriptions();
        for (int i = 1; i < context.argumentCount(); i++) {
            mine.unsubscribe(scope, argument(context, i));
        }
        writeMessages(context, mine);
        for (int i = 1; i < context.argumentCount(); i++) {
            mine.remove(scope, argument(context, i));
            confirm(reply, scope.unsubscribeWord());
            reply.bulk(context.argumentAddress(i), context.argumentLength(i));
            reply.integer(mine.confirmedCount(scope));
        }
    }

    private static void unsubscribeFromAll(CommandContext context, SubscriptionType scope) {
        ReplyWriter reply = context.reply();
        Subscriptions mine = context.client().subscriptions();
        List<Name> names = mine.names(scope);
        for (Name name : names) {
            mine.unsubscribe(scope, name);
        }
        writeMessages(context, mine);
        for (Name name : names) {
            mine.remove(scope, name);
            confirm(reply, scope.unsubscribeWord());
            reply.bulk(name.bytes());
            reply.integer(mine.confirmedCount(scope));
        }
        if (names.isEmpty()) {
            confirm(reply, scope.unsubscribeWord());
            reply.nil();
            reply.integer(mine.confirmedCount(scope));
        }
    }

    /**
     * Writes pending messages before the confirmation. The replies of a transaction cannot contain messages, so
     * messages that arrive during one are dropped.
     */
    private static void writeMessages(CommandContext context, Subscriptions mine) {
        if (!context.isInTransaction()) {
            mine.writeAll(context.reply());
        }
    }

    // --- publish

    private void publish(CommandContext context, SubscriptionType scope) {
        context.mayHaveChanged(true);
        context.events().publish();
        relay(context);
        Name channel = argument(context, 1);
        Content content = Content.at(context.argumentAddress(2), context.argumentLength(2), context.shareRun(2));
        int delivered = channels.publish(scope, channel, content, pattern -> matches(context, pattern));
        if (delivered == Channels.REFUSED) {
            context.reply().error(Errors.OUT_OF_MEMORY);
        } else {
            context.reply().integer(delivered);
        }
    }

    /** As in Redis, subscribers at replicas receive the message, too; those at the primary of this server do not. */
    private static void relay(CommandContext context) {
        ServerState server = context.server();
        if (server.replicas().isActive() && !server.role().isReplica()) {
            ByteArrayOutputStream command = new ByteArrayOutputStream();
            command.writeBytes("*3\r\n".getBytes(StandardCharsets.US_ASCII));
            for (int i = 0; i < 3; i++) {
                byte[] argument = context.argumentBytes(i);
                command.writeBytes(("$" + argument.length + "\r\n").getBytes(StandardCharsets.US_ASCII));
                command.writeBytes(argument);
                command.writeBytes(LINE_END);
            }
            server.changes().copyOnly(command.toByteArray());
        }
    }

    /** Whether a subscribed pattern matches the published channel. */
    private static boolean matches(CommandContext context, Name pattern) {
        return GlobPattern.matches(context.scratch(pattern.bytes()), pattern.length(), context.argumentAddress(1),
                context.argumentLength(1));
    }

    // --- introspection

    private void names(CommandContext context, SubscriptionType scope) {
        if (context.argumentCount() > 3) {
            context.reply()
                    .error("ERR unknown subcommand or wrong number of arguments for '" + context.argumentString(1)
                            + "'. Try PUBSUB HELP.");
            return;
        }
        boolean all = context.argumentCount() == 2;
        ReplyWriter reply = context.reply();
        Collection<Name> names = channels.names(scope);
        long mark = reply.beginDeferred();
        int count = 0;
        for (Name name : names) {
            if (all || isMatched(context, name)) {
                reply.bulk(name.bytes());
                count++;
            }
        }
        reply.endArray(mark, count);
    }

    /** Whether a subscribed name matches the requested pattern. */
    private static boolean isMatched(CommandContext context, Name name) {
        if (name.length() <= Arguments.MAX_TEXT_BYTES) {
            return isMatched(context, context.scratch(name.bytes()), name.length());
        }
        // Scratch memory would keep that size.
        ValueRun buffer = context.cache().newBuffer(name.length());
        if (buffer == null) {
            throw NoBufferException.of(name.length());
        }
        try {
            Memory.copy(name.bytes(), 0, buffer.address(), name.length());
            return isMatched(context, buffer.address(), name.length());
        } finally {
            buffer.release();
        }
    }

    private static boolean isMatched(CommandContext context, long name, int length) {
        return GlobPattern.matches(context.argumentAddress(2), context.argumentLength(2), name, length);
    }

    private void counts(CommandContext context, SubscriptionType scope) {
        int first = 2;
        ReplyWriter reply = context.reply();
        reply.array(2L * (context.argumentCount() - first));
        for (int i = first; i < context.argumentCount(); i++) {
            reply.bulk(context.argumentAddress(i), context.argumentLength(i));
            reply.integer(channels.listeners(scope, argument(context, i)));
        }
    }

    private static void help(CommandContext context) {
        HelpText.reply(context.reply(), "PUBSUB", "CHANNELS [<pattern>]",
                "    Return the currently active channels matching a <pattern> (default: '*').", "NUMPAT",
                "    Return number of subscriptions to patterns.", "NUMSUB [<channel> ...]",
                "    Return the number of subscribers for the specified channels, excluding",
                "    pattern subscriptions(default: no channels).", "SHARDCHANNELS [<pattern>]",
                "    Return the currently active shard level channels matching a <pattern> (default: '*').",
                "SHARDNUMSUB [<shardchannel> ...]",
                "    Return the number of subscribers for the specified shard level channel(s)");
    }
}
