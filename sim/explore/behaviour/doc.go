// Package behaviour learns how clients and nodes behave, each piece once.
package behaviour
