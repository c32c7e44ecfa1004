/**
 * Sends keys to other members with controllers: those of hash slots that the map moves, and copies of hot keys.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.migration;
