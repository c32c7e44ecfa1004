package io.varve.server.acl;

import java.nio.charset.StandardCharsets;

/**
 * A user's name, and what the user may do at this moment. Single-writer {@link AccessControl}, many readers: the user is
 * volatile, so that changed rules reach who is connected with the next command.
 */
public final class Account {
    private final String name;
    private final String text;
    private volatile User user;
    private volatile boolean deleted;

    Account(String name, User user) {
        this.name = name;
        text = new String(name.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
        this.user = user;
    }

    /** Each char is a byte. */
    public String name() {
        return name;
    }

    /** The name as text, invalid UTF-8 replaced. */
    public String text() {
        return text;
    }

    public User user() {
        return user;
    }

    void user(User changed) {
        user = changed;
    }

    /** Whether the account is no more: who is still connected by it may do nothing. */
    public boolean isDeleted() {
        return deleted;
    }

    void delete(User nobody) {
        user = nobody;
        deleted = true;
    }
}
