package io.varve.server.pubsub;

/** What the name that somebody listens to is. Immutable. */
public enum Scope {
    /** A channel: who publishes to this very name is heard. */
    CHANNEL("message", "subscribe", "unsubscribe"),
    /** A glob-style pattern: who publishes to any channel that matches it is heard. */
    PATTERN("pmessage", "psubscribe", "punsubscribe"),
    /** A channel that a cluster would keep to one shard. No pattern matches it, and it is not the channel of the same name. */
    SHARD_CHANNEL("smessage", "ssubscribe", "sunsubscribe");

    private final String messageWord;
    private final String subscribeWord;
    private final String unsubscribeWord;

    Scope(String messageWord, String subscribeWord, String unsubscribeWord) {
        this.messageWord = messageWord;
        this.subscribeWord = subscribeWord;
        this.unsubscribeWord = unsubscribeWord;
    }

    /** What a message begins with. */
    String messageWord() {
        return messageWord;
    }

    /** What the confirmation of a subscription begins with: the command's name. */
    public String subscribeWord() {
        return subscribeWord;
    }

    /** What the confirmation of its end begins with: the command's name. */
    public String unsubscribeWord() {
        return unsubscribeWord;
    }
}
