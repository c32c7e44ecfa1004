package io.varve.server.pubsub;

/** The type of a name that a client subscribes to. Immutable. */
public enum SubscriptionType {
    /** A channel: matches messages to exactly this name. */
    CHANNEL("message", "subscribe", "unsubscribe"),
    /** A glob-style pattern: matches messages to any channel that it matches. */
    PATTERN("pmessage", "psubscribe", "punsubscribe"),
    /**
     * A channel that a cluster would keep on one shard. No pattern matches it, and it is distinct from the channel with
     * an equal name.
     */
    SHARD_CHANNEL("smessage", "ssubscribe", "sunsubscribe");

    private final String messageWord;
    private final String subscribeWord;
    private final String unsubscribeWord;

    SubscriptionType(String messageWord, String subscribeWord, String unsubscribeWord) {
        this.messageWord = messageWord;
        this.subscribeWord = subscribeWord;
        this.unsubscribeWord = unsubscribeWord;
    }

    /** The first word of a message. */
    String messageWord() {
        return messageWord;
    }

    /** The first word of a subscription's confirmation: the command's name. */
    public String subscribeWord() {
        return subscribeWord;
    }

    /** The first word of an unsubscription's confirmation: the command's name. */
    public String unsubscribeWord() {
        return unsubscribeWord;
    }
}
